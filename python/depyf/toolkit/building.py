"""Builds PyTorch's tree of guards for an entry whose guards were edited.

The guards that an edit keeps are checked in C++, by a copy of Dynamo's tree. The copy of Dynamo's tree leaves out every
value on which the edit dropped a guard, and every value that is reached through such a value. Two kinds of guards are
checked in Python: the remaining guards on the values that the copy of Dynamo's tree leaves out, and the guards that a
user added. If the edit dropped a guard on the state of the process (such as grad mode), all guards are checked in
Python.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

from depyf.compat import cache
from depyf.guards import Guard
from depyf.toolkit.conditions import is_below

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry


def build(entry: CacheEntry) -> Any:
    """Returns a new guard manager for the entry's guards, never the guard manager that Dynamo uses.

    Raises:
        NotImplementedError: this PyTorch has no trees of guards.
    """
    kept = {id(guard) for guard in entry.guards}
    native = {id(guard) for guard in entry.native}
    dropped = [guard for guard in entry.native if id(guard) not in kept]
    if entry.tree is None or any(not guard.source for guard in dropped):
        manager = cache.new_manager(entry.target.globals)
        in_python = list(entry.guards)
    else:
        gone = {guard.source for guard in dropped}
        manager = cache.clone_manager(entry.tree, frozenset(gone))
        in_python = [
            guard
            for guard in entry.guards
            if id(guard) not in native
            or any(is_below(name, source) for name in (guard.source, *guard.members) for source in gone)
        ]
    for guard in in_python:
        cache.add_guard(manager, _accepts(guard, entry.target.globals), guard.text)
    return manager


def _accepts(guard: Guard, G: dict[str, Any]) -> Any:
    def accepts(L: dict[str, Any]) -> bool:
        return guard.check(L, G)

    return accepts


_ACCEPTS = next(const for const in _accepts.__code__.co_consts if isinstance(const, types.CodeType))


def is_guard_running() -> bool:
    """True if a guard that is checked in Python is on the call stack, which means that PyTorch is in the middle of a
    check."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code is _ACCEPTS:
            return True
        frame = frame.f_back
    return False
