"""Keeps the records of compilations, as long as their transformed code is alive, for `depyf.explain`."""

from __future__ import annotations

import types
import weakref
from dataclasses import dataclass

from depyf import locks, weak
from depyf.guards.reading import LineOf
from depyf.session import Frame, Session


@dataclass
class Seen:
    """A compilation that a `prepare_debug` block recorded."""

    session: Session
    frame: Frame
    line_of: LineOf | None = None
    """A function that returns the user's line for a guard; see `guards.read`."""


_lock = locks.Lock()
"""The lock for `_sessions`. A forked child, in which the lock is free, keeps the records from before the fork; nothing
clears the lock."""
_by_code: weak.Table[Seen] = weak.Table()
"""Maps transformed code to the compilation that a `prepare_debug` block recorded. An item is removed when its code
object is freed, and nothing else clears `_by_code`. `_by_code` needs no lock, as each write is one assignment; a forked
child continues with its copy."""
_restored: weak.Table[list[weak.Reference]] = weak.Table()
"""Maps original code to references to the codes of the entries that PyTorch restored for it, in the order in which
blocks saw them. An item is removed when its code object is freed, and nothing else clears the table. Writers of the
table hold the lock of a recorder; a forked child continues with its copy."""
_sessions: list[weakref.ref[Session]] = []
"""Weak references to the sessions of all `prepare_debug` blocks; the function `opened` clears the list of dead ones.
The list is guarded by `_lock`; a forked child continues with its copy."""


def remember(code: types.CodeType, session: Session, frame: Frame) -> None:
    """Keeps the session and the frame of transformed code as long as the code object is alive."""
    _by_code.set(code, Seen(session, frame))


def opened(session: Session) -> None:
    """Must be called when a `prepare_debug` block begins; keeps a weak reference to its session."""
    with _lock:
        _sessions[:] = [reference for reference in _sessions if reference() is not None]
        _sessions.append(weakref.ref(session))


def of(code: types.CodeType) -> Seen | None:
    """Returns the record of transformed code; None if no `prepare_debug` block was open when it was generated."""
    return _by_code.get(code)


def attempts(code: types.CodeType) -> list[Frame]:
    """Returns the failed compilations of a function, from the `prepare_debug` blocks whose sessions are still alive."""
    return [
        frame
        for reference in list(_sessions)
        if (session := reference()) is not None
        for frame in list(session.frames)
        if frame.status == "not compiled"
        and (frame.filename, frame.line, frame.function) == (code.co_filename, code.co_firstlineno, code.co_name)
    ]


def remember_restored(original: types.CodeType, code: types.CodeType) -> None:
    """Keeps a weak reference to the code of a cache entry that PyTorch restores for a function."""
    references = [refers for refers in _restored.get(original) or () if refers() is not None]
    _restored.set(original, [*references, weak.reference(code)])


def restored_of(original: types.CodeType) -> list[types.CodeType]:
    """Returns the codes of the entries that PyTorch restored for a function while a `prepare_debug` block was open."""
    return [code for refers in _restored.get(original) or () if (code := refers()) is not None]
