"""Measures the time that Dynamo's check of a compilation's guards takes, as a whole and for each group of guarded
values.

PyTorch's own checks are repeated on copies of its trees of guards. Checking a tree itself would change counts by which
the tree orders its checks, and could change the order of the cache entries. A tree is divided into groups of nodes, and
a series of copies is made: each copy contains one group more than the copy before. The time of a group is the
difference between the times of checking the copy with and the copy without the group. Because each copy extends the
copy before, the times of all groups sum to the time of the whole tree.
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
    """Measures how long the check of a tree of guards takes on the given local variables. The check runs on copies of
    the tree, so that the counts in the tree itself do not change.

    Returns:
        A pair (time, accepts). `accepts` is true if the guards accept the local variables. A check ends at the first
        guard that fails, so only the time of an accepting check is divided into groups.
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
    """Returns the cost of each group. `times` starts with the time of an empty tree. Each further element of `times` is
    the time of a tree with one group more."""
    for position in reversed(range(len(times) - 1)):
        # A tree with fewer guards cannot take longer than a tree with more guards, so a longer time is noise.
        times[position] = min(times[position], times[position + 1])
    costs = []
    for position, group in enumerate(groups):
        conditions = sum(len(node.leaves) for node in group) + (epilogue if position == 0 else 0)
        costs.append(GroupCost(group[0].source, times[position + 1] - times[position], len(group), conditions))
    costs[0].source = ""
    return sorted(costs, key=lambda cost: -cost.microseconds)


def _groups(tree: Tree) -> list[list[Node]]:
    """Returns the nodes of a tree in groups. A group is a whole subtree, or a single node whose children's subtrees are
    in groups of their own; the root is such a node. A group comes after the groups of the nodes on the path from the
    root to its first node."""
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
    """Returns the groups sorted by size, the smallest first. A group that contains the parent of another group's first
    node always comes before this other group.

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
