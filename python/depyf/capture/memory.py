"""Keeps the records of functions that are still compiled, for `depyf.explain`."""

from __future__ import annotations

import types
import weakref
from dataclasses import dataclass

from depyf import locks, weak
from depyf.guards.reading import LineOf
from depyf.session import Frame, Session


@dataclass
class Seen:
    """A compilation that a block recorded."""

    session: Session
    frame: Frame
    line_of: LineOf | None = None
    """Returns the user's line for a guard; see `guards.read`."""


_lock = locks.Lock()
"""The lock for `_sessions`. It is free in a forked child, which keeps the records from before the fork. Nothing clears
it."""
_by_code: weak.Table[Seen] = weak.Table()
"""Maps transformed code to what a block recorded about it. An item is cleared together with its code, and nothing else
clears it. Each write is one assignment, so that it needs no lock; a forked child goes on with its copy."""
_restored: weak.Table[list[weak.Reference]] = weak.Table()
"""Maps original code to references to the codes of the entries that PyTorch restored for it, in the order in which
blocks saw them. An item is cleared together with its code, and nothing else clears it. Writers hold the lock of a
recorder; a forked child goes on with its copy."""
_sessions: list[weakref.ref[Session]] = []
"""The sessions of all blocks. The beginning of a block clears out those that are gone. `_lock` guards it; a forked
child goes on with its copy."""


def remember(code: types.CodeType, session: Session, frame: Frame) -> None:
    """Keeps what is known of transformed code for as long as that lives."""
    _by_code.set(code, Seen(session, frame))


def opened(session: Session) -> None:
    """Is called when a block begins."""
    with _lock:
        _sessions[:] = [reference for reference in _sessions if reference() is not None]
        _sessions.append(weakref.ref(session))


def of(code: types.CodeType) -> Seen | None:
    """Returns what is known of transformed code; None if no block saw it made."""
    return _by_code.get(code)


def attempts(code: types.CodeType) -> list[Frame]:
    """Returns the compilations of a function that came to nothing, in the blocks whose sessions are still there."""
    return [
        frame
        for reference in list(_sessions)
        if (session := reference()) is not None
        for frame in list(session.frames)
        if frame.status == "not compiled"
        and (frame.filename, frame.line, frame.function) == (code.co_filename, code.co_firstlineno, code.co_name)
    ]


def remember_restored(original: types.CodeType, code: types.CodeType) -> None:
    """Keeps the code of an entry that PyTorch restores for a function."""
    references = [refers for refers in _restored.get(original) or () if refers() is not None]
    _restored.set(original, [*references, weak.reference(code)])


def restored_of(original: types.CodeType) -> list[types.CodeType]:
    """Returns the codes of the entries that PyTorch restored for a function while a block was open."""
    return [code for refers in _restored.get(original) or () if (code := refers()) is not None]
