"""Registers cache entries with Dynamo. For a call, Dynamo tries registered entries before the entries that it compiled
itself.

A registered entry is a precompile entry of PyTorch. Dynamo tries precompile entries first, in the order in which they
were loaded. PyTorch can only remove all precompile entries of a function at once, and gives no access to their code.
PyTorch does not lock entries, so a thread in the middle of a lookup could use an entry that another thread has freed.
Therefore entries are removed only while no other thread is inside of a call of a compiled function. A removed entry
refuses every call until PyTorch drops the entry. The newest entry must take precedence. If PyTorch tries an older entry
before a newer entry, the older entry first evaluates the newer entry's guards, and refuses the calls that the newer
entry accepts.

PyTorch's C++ holds the registered entries of a function as long as the function's code lives, and the garbage collector
cannot see these references. A registered entry must not refer to the function's code, nor to the object to which a
method is bound, because the resulting reference cycle would never be freed. PyTorch refers to the guards, the guards
refer to a `_Record`, and all other objects refer to the record weakly. Only the user's `Registration` may refer to the
function whose entry is registered.
"""

from __future__ import annotations

import dataclasses
import itertools
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from depyf import locks, weak
from depyf.compat import cache, eval_frame
from depyf.toolkit.ahead_of_time import NO_REGISTRATION
from depyf.toolkit.building import build, is_guard_running
from depyf.toolkit.target import Target
from depyf.toolkit.validation import check_code

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry

_lock = locks.Lock()
"""The lock for `_loaded` and for the order of PyTorch's precompile entries. Nothing clears the lock, which
exists as long as the process. A forked child can acquire the lock, and has copies of `_loaded` and of PyTorch's
entries."""
_counter = itertools.count()
"""Numbers registered entries in the order of their registration. The counter needs no lock, as `next` is one step;
nothing clears it. A forked child continues with its own copy of the counter."""
_loaded: weak.Table[list[Callable[[], _Record | None]]] = weak.Table()
"""Maps the code of a function to references to the records of all entries that depyf registered with PyTorch, in the
order in which PyTorch tries the entries. An item is removed when the code is freed, or when the last record of the
function is gone; nothing else clears `_loaded`. `_loaded` is guarded by `_lock`; a forked child continues with its own
copy."""


class Registration:
    """A handle to a registered entry. If the handle is used in a `with` statement, the entry is removed at the end of
    the statement."""

    def __init__(self, entry: CacheEntry, record: _Record) -> None:
        self.entry = entry
        self._record = record
        record.handle = weakref.ref(self)

    def __repr__(self) -> str:
        return f"Registration(entry={self.entry!r})"

    @property
    def resumed(self) -> list[Registration]:
        """Returns the registrations of the entries of resume functions that were registered together with this entry,
        and are removed together with it."""
        records = [record for refers in self._record.resumed if (record := refers()) is not None and not record.removed]
        return [record.registration(code) for record in records if (code := record.function()) is not None]

    @property
    def active(self) -> bool:
        """True until the entry is removed by `remove` or by `torch._dynamo.reset`."""
        return any(record is self._record for record in _records_of(self.entry.target.code))

    def remove(self) -> None:
        """Removes the entry; other entries stay. Does nothing if the entry has already been removed."""
        resumed = self.resumed
        target = self.entry.target.code
        with _lock:
            self._record.remove()
            _sweep(target)
        for registration in resumed:
            registration.remove()

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class _Record:
    """The data to which the guards of a registered entry refer: everything that is needed to run the entry and to
    describe it."""

    def __init__(self, entry: CacheEntry, code: types.CodeType) -> None:
        self.number = next(_counter)
        self.code: types.CodeType | None = code
        """The entry's code with its names bound to their values; None once the entry was removed."""
        self.entry: CacheEntry | None = dataclasses.replace(
            entry, target=_without_code(entry.target), tree=None, resumed=[], _manager=None
        )
        """A copy of the entry that refers neither to its function nor to Dynamo's tree of guards; None once the entry
        was removed."""
        self.function = weak.reference(entry.target.code)
        self.resumed: list[Callable[[], _Record | None]] = []
        self._tree = weak.reference(entry.tree)
        self.manager: Callable[[], Any] = weak.NOTHING
        self.handle: Callable[[], Registration | None] = weak.NOTHING
        self.newer: list[Callable[[], _Record | None]] = []
        """References to the records of newer entries, which take precedence over this entry although PyTorch tries them
        later."""

    @property
    def removed(self) -> bool:
        """True once the entry was removed."""
        return self.entry is None

    def remove(self) -> None:
        """Makes the entry refuse every call, and releases the references to its code and objects."""
        self.entry = self.code = None
        self.newer = []

    def accepts(self, L: dict[str, Any]) -> bool:
        """Implements the entry's first guard. True if the entry was not removed and no newer entry accepts the call."""
        # A guard can register entries, so the list `newer` can grow during the loop. A guard can also remove this
        # record's own entry, so `removed` is read last.
        for refers in self.newer:
            record = refers()
            if record is not None and record.would_run(L):
                return False
        return not self.removed

    def would_run(self, L: dict[str, Any]) -> bool:
        """True if the entry is not removed and its guards accept a call with the locals `L`."""
        manager = self.manager()
        return not self.removed and manager is not None and cache.accepts(manager, L)

    def registration(self, code: types.CodeType) -> Registration:
        """Returns the `Registration` that the user holds, or a new `Registration` if the user has deleted it."""
        handle = self.handle()
        if handle is None:
            assert self.entry is not None
            target = dataclasses.replace(self.entry.target, code=code)
            handle = Registration(dataclasses.replace(self.entry, target=target, tree=self._tree()), self)
        return handle


def _without_code(target: Target) -> Target:
    """Returns a target that names a function without referring to it or to the values that it is called with."""
    return Target(_NO_CODE, target.globals, target.name, backend=target.backend)


_NO_CODE = compile("", "<depyf>", "exec")


def register(entry: CacheEntry) -> Registration:
    """Implements `CacheEntry.register`."""
    if reason := cache.why_not_loadable():
        raise NotImplementedError(reason)
    if entry.ahead is not None:
        raise ValueError(f"{entry.target.name}: {NO_REGISTRATION}")
    entry._need_code()
    target = entry.target
    check_code(entry.code, target)
    runnable = check_code(entry.runnable(), target)
    record = _Record(entry, runnable)
    manager = build(entry)
    cache.add_guard(manager, _turn_of(weakref.ref(record)), "it is registered, and no newer entry accepts the call")
    setattr(manager, cache.RECORD, record)
    record.manager = weak.reference(manager)
    code = target.code
    eval_frame.pass_over(weak.Forget.__call__)
    with _lock:
        known = _known(code)
        if foreign := len(not_ours(code)):
            raise RuntimeError(
                f"{target.name} has {foreign} entries that PyTorch loaded, which come first and would be lost; "
                "call torch._dynamo.reset() to remove them"
            )
        if not _load_anew(code, [record, *_records_of(code)]):
            cache.load_behind(code, manager, runnable)
            for earlier in known:
                earlier.newer.append(weakref.ref(record))
            _remember(code, [*known, record])
        cache.look_at_again(code)
    handle = Registration(entry, record)
    # Dynamo tries the entry first that was registered last, so the entries of the resume functions are registered in
    # reverse order.
    record.resumed = [weakref.ref(register(resumed)._record) for resumed in reversed(entry.resumed)]
    return handle


def _turn_of(refers: Callable[[], _Record | None]) -> Callable[[dict[str, Any]], bool]:
    def is_its_turn(L: dict[str, Any]) -> bool:
        record = refers()
        return record is not None and record.accepts(L)

    return is_its_turn


def registered() -> list[Registration]:
    """Returns every registered entry that Dynamo still has. The entries of one function are in the order in which
    Dynamo tries them."""
    with _lock:
        return [handle for code, _ in list(_loaded.items()) for handle in registered_of(code)]


def registered_of(code: types.CodeType) -> list[Registration]:
    """Returns the registered entries of the function whose original code is `code`, in the order in which Dynamo tries
    them."""
    with _lock:
        _sweep(code)
        return [record.registration(code) for record in _records_of(code)]


def not_ours(code: types.CodeType) -> list[Any]:
    """Returns the guard managers of the entries that PyTorch loaded and depyf did not register."""
    with _lock:
        mine = [record.manager() for record in _known(code)]
        return [manager for manager in cache.loaded(code) if all(manager is not known for known in mine)]


def _records_of(code: types.CodeType) -> list[_Record]:
    """Returns the records of the registered entries of a function that are not removed, the newest first."""
    with _lock:
        alive = [record for record in _known(code) if not record.removed]
        return sorted(alive, key=lambda record: record.number, reverse=True)


def _known(code: types.CodeType) -> list[_Record]:
    """Returns the records of those registered entries of a function that PyTorch still holds, in the order in which
    PyTorch tries them. Entries that were removed, but not yet released by PyTorch, are included. After
    `torch._dynamo.reset`, the list is empty."""
    references = _loaded.get(code)
    if not references:
        return []
    managers = cache.loaded(code)
    ours = [record for refers in references if (record := refers()) is not None]
    ours = [record for record in ours if any(record.manager() is manager for manager in managers)]
    _remember(code, ours)
    return ours


def _remember(code: types.CodeType, records: list[_Record]) -> None:
    if records:
        _loaded.set(code, [weakref.ref(record) for record in records])
    else:
        _loaded.pop(code)


def _sweep(code: types.CodeType) -> None:
    """Makes PyTorch release the removed entries of a function, unless a thread may be using one of these entries."""
    if any(record.removed for record in _known(code)):
        _load_anew(code, _records_of(code))


def _load_anew(code: types.CodeType, records: list[_Record]) -> bool:
    """Makes PyTorch hold exactly the entries of `records` as the precompile entries of the function, in the order of
    `records`.

    Returns:
        True if PyTorch holds the entries now. False, with nothing changed, if another thread may be in the middle of a
        lookup, or if a guard, and thus a lookup, is running in this thread.
    """
    if is_guard_running():
        return False
    # The list `before` keeps the previous guard managers alive until PyTorch has released them.
    before = [record.manager() for record in _known(code)]
    entries = [
        (manager, record.code)
        for record in records
        if (manager := record.manager()) is not None and record.code is not None
    ]
    if not cache.replace(code, entries):
        return False
    for record in records:
        record.newer = []
    _remember(code, records)
    del before
    return True
