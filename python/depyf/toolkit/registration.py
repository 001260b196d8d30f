"""Entries that Dynamo is made to use, before its own.

They are PyTorch's precompile entries, which Dynamo tries first, in the order in which they were loaded. PyTorch takes
away all of a function's or none, cannot be asked what their code is, and does not lock them: a thread that is in the
middle of a lookup would go on with what another thread has freed. So entries are taken away only while there is no other
thread. Until then an entry that was removed refuses every call, and one that a newer entry should come before asks that
one's guards first.
"""

from __future__ import annotations

import itertools
import sys
import threading
import types
from dataclasses import dataclass, field
from typing import Any

from depyf.compat import cache
from depyf.toolkit.building import build, is_guard_running
from depyf.toolkit.entries import CacheEntry
from depyf.toolkit.validation import check_code

_lock = threading.RLock()
_counter = itertools.count()
_loaded: dict[int, list[Registration]] = {}
"""By the identity of the function's code, which each registration holds: all that PyTorch has of ours, in its order."""


@dataclass(eq=False)
class Registration:
    """One registered entry. As a context manager it removes the entry at the end of the block."""

    entry: CacheEntry
    code: types.CodeType = field(repr=False)
    """What runs: the entry's code, with what it needs bound to it."""
    manager: Any = field(default=None, repr=False)
    number: int = field(default_factory=lambda: next(_counter), repr=False)
    _removed: bool = field(default=False, repr=False)
    resumed: list[Registration] = field(default_factory=list, repr=False)
    """Those of the resume functions that the entry brought with it, which go when this one goes."""
    _newer: list[Registration] = field(default_factory=list, repr=False)
    """Those that come before this one although PyTorch has them behind it."""

    @property
    def active(self) -> bool:
        """Does Dynamo still know it? Not after `remove`, nor after `torch._dynamo.reset`."""
        return any(one is self for one in registered_of(self.entry.target.code))

    def remove(self) -> None:
        """Takes the entry away; the others stay. Does nothing if it is gone already."""
        target = self.entry.target.code
        with _lock:
            self._removed = True
            if any(one is self for one in _known(target)) and _alone():
                _load_anew(target, registered_of(target))
        for registration in self.resumed:
            registration.remove()

    def _accepts(self, L: dict[str, Any]) -> bool:
        """The first guard: is it this entry's turn?"""
        return not self._removed and not any(one._would_run(L) for one in self._newer)

    def _would_run(self, L: dict[str, Any]) -> bool:
        return not self._removed and cache.accepts(self.manager, L)

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register(entry: CacheEntry) -> Registration:
    """See `CacheEntry.register`."""
    if reason := cache.why_not_loadable():
        raise NotImplementedError(reason)
    entry._need_code()
    target = entry.target
    check_code(entry.code, target)
    new = Registration(entry, check_code(entry.runnable(), target))
    new.manager = build(entry)
    cache.add_guard(new.manager, new._accepts, "it is registered, and no newer entry accepts the call")
    code = target.code
    with _lock:
        known = _known(code)
        if foreign := len(not_ours(code)):
            raise RuntimeError(
                f"{target.name} has {foreign} entries that PyTorch loaded, which come first and would be lost: "
                "torch._dynamo.reset() takes them away"
            )
        if _alone():
            _load_anew(code, [new, *registered_of(code)])
        else:
            cache.load(code, [(new.manager, new.code)], keep=True)
            for one in known:
                one._newer.append(new)
            _loaded[id(code)] = [*known, new]
        cache.look_at_again(code)
    # The one that is registered last is tried first.
    new.resumed = [register(one) for one in reversed(entry.resumed)]
    return new


def registered() -> list[Registration]:
    """Every registered entry that Dynamo still knows; of one function the one that is tried first in front."""
    with _lock:
        codes = [slot[0].entry.target.code for slot in list(_loaded.values())]
        return [one for code in codes for one in registered_of(code)]


def registered_of(code: types.CodeType) -> list[Registration]:
    """Those of one function, by its original code, the one that is tried first in front."""
    with _lock:
        alive = [one for one in _known(code) if not one._removed]
        return sorted(alive, key=lambda one: one.number, reverse=True)


def not_ours(code: types.CodeType) -> list[Any]:
    """The guard managers of entries that PyTorch loaded."""
    with _lock:
        known = _known(code)
        return [one for one in cache.loaded(code) if all(one is not mine.manager for mine in known)]


def _known(code: types.CodeType) -> list[Registration]:
    """What PyTorch has of ours, removed entries too, in its order. A reset may have taken all away."""
    ours = _loaded.get(id(code), [])
    if ours:
        managers = cache.loaded(code)
        ours = [one for one in ours if any(one.manager is manager for manager in managers)]
        _remember(code, ours)
    return ours


def _remember(code: types.CodeType, registrations: list[Registration]) -> None:
    if registrations:
        _loaded[id(code)] = registrations
    else:
        _loaded.pop(id(code), None)


def _load_anew(code: types.CodeType, registrations: list[Registration]) -> None:
    """Makes PyTorch have just these, in this order."""
    before = _known(code)  # held until PyTorch has let go of them
    cache.load(code, [(one.manager, one.code) for one in registrations], keep=False)
    for one in registrations:
        one._newer = []
    _remember(code, registrations)
    del before


def _alone() -> bool:
    """Can nobody be in the middle of a lookup?"""
    return len(sys._current_frames()) == 1 and not is_guard_running()
