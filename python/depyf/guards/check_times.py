"""Measures how long Dynamo's check of a compilation's guards takes, as a whole and by the values that are looked at.

PyTorch's own checks are repeated on copies of its trees, so that neither the counts by which a tree orders its checks
nor the order of the entries changes. The time of a part of a tree is the difference between the checks of two copies,
which consist of all parts up to this one, with it and without it, so that the times of the parts sum to the whole.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from depyf.compat import cache
from depyf.compat.guard_tree import Node, Tree
from depyf.guards import timing
from depyf.session import GroupCost, GuardTime

_GROUPS_MAX = 64
"""The largest number of groups into which the nodes of a guard tree are divided; each group costs a copy of the
tree."""
_CHILDREN_MAX = 32
"""A value with more children than this, such as a long dict, is not divided into groups."""


def measured(tree: Tree, local: dict[str, Any]) -> tuple[GuardTime, bool]:
    """Measures the check of a tree of guards on local variables, on copies of the tree, so that the counts in the tree
    itself do not change.

    Returns:
        The time of a check, and whether the guards accept the local variables. A check ends at the first guard that
        fails, so that only the time of an accepting check is divided into groups.
    """
    nodes = list(tree.root)
    groups = _in_order(_groups(tree))
    prefixes: list[set[int]] = []
    members: set[int] = set()
    for group in groups:
        members = members | {id(node) for node in group}
        prefixes.append(members)
    whole = tree.copy_of(nodes)
    accepts = bool(whole(local))
    checks = [whole, cache.new_manager({}).root.check]
    if accepts:
        checks += [tree.copy_of(node for node in nodes if id(node) in prefix) for prefix in prefixes[:-1]]
    calls: list[Callable[[], object]] = [functools.partial(check, local) for check in checks]
    microseconds, nothing, *parts = timing.microseconds(calls)
    time = GuardTime(max(0.0, microseconds - nothing))
    if accepts:
        time.groups = _group_costs(groups, [nothing, *parts, microseconds], len(tree.epilogue))
    return time, accepts


def _group_costs(groups: list[list[Node]], times: list[float], epilogue: int) -> list[GroupCost]:
    """Returns the cost of each group, from the times of an empty tree and of trees with one more group each."""
    for position in reversed(range(len(times) - 1)):
        # A tree with fewer guards cannot take longer, so a longer time is noise.
        times[position] = min(times[position], times[position + 1])
    costs = []
    for position, group in enumerate(groups):
        conditions = sum(len(node.leaves) for node in group) + (epilogue if position == 0 else 0)
        costs.append(GroupCost(group[0].source, times[position + 1] - times[position], len(group), conditions))
    costs[0].source = ""
    return sorted(costs, key=lambda cost: -cost.microseconds)


def _groups(tree: Tree) -> list[list[Node]]:
    """Returns the nodes of a tree in groups, each after the nodes that lead to it; the root is a group of its own."""
    groups = [[tree.root], *([*child] for child in tree.root.children)]
    while len(groups) < _GROUPS_MAX:
        rooms = _GROUPS_MAX - len(groups)
        divisible = [
            (len(group), position)
            for position, group in enumerate(groups)
            if len(group) > 1 and 0 < len(group[0].children) <= min(_CHILDREN_MAX, rooms)
        ]
        if not divisible:
            break
        _, position = max(divisible)
        top = groups[position][0]
        groups[position : position + 1] = [[top], *([*child] for child in top.children)]
    return groups


def _in_order(groups: list[list[Node]]) -> list[list[Node]]:
    """Returns the groups sorted by size, the smallest first, but each group after the group with its parent node.

    The measurement error is proportional to the time of the whole tree that is checked, so a small group is measured
    best if few nodes precede it.
    """
    ordered: list[list[Node]] = []
    reached: set[int | None] = {None}
    left = list(groups)
    while left:
        ready = [group for group in left if (None if group[0].parent is None else id(group[0].parent)) in reached]
        smallest = min(ready, key=len)
        left = [group for group in left if group is not smallest]
        reached |= {id(node) for node in smallest}
        ordered.append(smallest)
    return ordered
