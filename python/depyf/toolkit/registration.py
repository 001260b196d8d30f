"""Entries that Dynamo is made to use, before its own.

They are PyTorch's precompile entries, which Dynamo tries first. PyTorch takes away all of a function's or none, and
cannot be asked what their code is: so each change takes all away and puts back, newest first, those that stay.
"""

from __future__ import annotations

import sys
import threading
import time
import types
from dataclasses import dataclass, field
from typing import Any

from depyf.compat import cache
from depyf.toolkit.building import build, is_guard_running
from depyf.toolkit.entries import CacheEntry
from depyf.toolkit.validation import check_code

_lock = threading.RLock()
_slots: dict[int, list[Registration]] = {}
"""By the identity of the function's code, which each registration holds: newest first."""
_WAIT = 5.0  # seconds for other threads to leave the guards that they are in


@dataclass(eq=False)
class Registration:
    """One registered entry. As a context manager it removes the entry at the end of the block."""

    entry: CacheEntry
    manager: Any = field(repr=False)
    code: types.CodeType = field(repr=False)
    """What runs: the entry's code, with what it needs bound to it."""

    @property
    def active(self) -> bool:
        """Does Dynamo still know it? Not after `remove`, nor after `torch._dynamo.reset`."""
        with _lock:
            return any(one is self for one in registered_of(self.entry.target.code))

    def remove(self) -> None:
        """Takes the entry away; the others stay. Does nothing if it is gone already.

        Raises:
            RuntimeError: called by a guard, or PyTorch has loaded entries of the function since.
        """
        target = self.entry.target.code
        with _lock:
            left = registered_of(target)
            if any(one is self for one in left):
                _put(target, [one for one in left if one is not self])

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register(entry: CacheEntry) -> Registration:
    """See `CacheEntry.register`."""
    if reason := cache.why_not_loadable():
        raise NotImplementedError(reason)
    target = entry.target
    check_code(entry.code, target)
    code = check_code(entry.runnable(), target)
    with _lock:
        registration = Registration(entry, build(entry), code)
        _put(target.code, [registration, *registered_of(target.code)])
        cache.look_at_again(target.code)
    return registration


def registered() -> list[Registration]:
    """Every registered entry that Dynamo still knows; of one function the one that is tried first in front."""
    with _lock:
        return [one for slot in list(_slots.values()) for one in registered_of(slot[0].entry.target.code)]


def registered_of(code: types.CodeType) -> list[Registration]:
    """Those of one function, by its original code."""
    with _lock:
        known = cache.loaded(code) if id(code) in _slots else []
        alive = [one for one in _slots.get(id(code), []) if any(one.manager is manager for manager in known)]
        _keep(code, alive)
        return alive


def _keep(code: types.CodeType, registrations: list[Registration]) -> None:
    if registrations:
        _slots[id(code)] = registrations
    else:
        _slots.pop(id(code), None)


def _put(code: types.CodeType, registrations: list[Registration]) -> None:
    """Makes Dynamo know just these.

    Raises:
        RuntimeError: it cannot be done now.
    """
    before = _slots.get(id(code), [])
    foreign = [one for one in cache.loaded(code) if all(one is not mine.manager for mine in before)]
    if foreign:
        raise RuntimeError(
            f"{code.co_name} has {len(foreign)} entries that PyTorch loaded, and that would be lost: "
            "torch._dynamo.reset() takes them away"
        )
    _wait_for_guards()
    try:
        cache.load(code, [(one.manager, one.code) for one in registrations])
    except BaseException:
        cache.load(code, [(one.manager, one.code) for one in before])
        raise
    _keep(code, registrations)


def _wait_for_guards() -> None:
    """PyTorch walks over the entries while it checks guards: the list may not change under it.

    Raises:
        RuntimeError: a guard of this thread asks for the change, or another thread stays in one.
    """
    if is_guard_running(sys._getframe()):
        raise RuntimeError("a guard cannot register or remove entries: PyTorch is going through them")
    until = time.monotonic() + _WAIT
    while True:
        mine = threading.get_ident()
        others = [frame for thread, frame in sys._current_frames().items() if thread != mine]
        if not any(is_guard_running(frame) for frame in others):
            return
        if time.monotonic() > until:
            raise RuntimeError(f"another thread has been checking guards of a registered entry for {_WAIT:.0f} seconds")
        time.sleep(0.001)
