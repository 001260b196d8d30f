"""Measures how long Dynamo's check of a compilation's guards takes, as a whole and by the values that are looked at.

PyTorch's own checks are repeated on copies of its trees, so that neither the counts by which a tree orders its checks
nor the order of the entries changes. A part of a tree is measured as the difference that it makes: trees that consist
of the first parts, one more each time, are checked, so that the parts sum to the whole.
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
"""The largest number of groups; each of them costs a copy of the tree."""
_CHILDREN_MAX = 32
"""A value with more parts than this, such as a long dict, is one group."""


def measured(tree: Tree, local: dict[str, Any]) -> tuple[GuardTime, bool]:
    """Measures the check of a tree of guards on local variables, on copies of the tree, so that its own counts stay.

    Returns:
        The time of a check, and whether the guards accept the local variables. A check ends at the first guard that
        fails, so that only an accepting one has groups.
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
    """Returns the costs of groups, from the times of an empty tree and of the trees with one more group each."""
    for position in reversed(range(len(times) - 1)):
        # Fewer guards take no longer, so a longer time is noise.
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
    """Returns the groups with the smaller ones first, as far as each can come after the group that leads to it.

    The error of a time is a share of the tree's whole time, so a small group is measured best if little comes before
    it.
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
