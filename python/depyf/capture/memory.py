"""Keeps the records of compilations for `depyf.explain`, as long as their transformed code is alive."""

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
    """A function that returns the line of the user's source that needs a guard; see `guards.read`."""


_lock = locks.Lock()
"""The lock for `_sessions`. Nothing clears the lock, which exists as long as the process. A forked child can acquire the
lock, and keeps the records from before the fork."""
_by_code: weak.Table[Seen] = weak.Table()
"""Maps transformed code to the compilation that a `prepare_debug` block recorded. An item is removed when its code
object is freed, and nothing else clears `_by_code`. `_by_code` needs no lock, as each write is one assignment; a forked
child continues with its own copy of `_by_code`."""
_restored: weak.Table[list[weak.Reference]] = weak.Table()
"""Maps a function's own code to references to the transformed codes that PyTorch restored for the function, in the
order in which `prepare_debug` blocks recorded them. An item is removed when the function's own code is freed, and
nothing else clears `_restored`. Writers of `_restored` hold the lock of a recorder; a forked child continues with its
own copy."""
_sessions: list[weakref.ref[Session]] = []
"""Weak references to the sessions of all `prepare_debug` blocks; the function `opened` clears the references to
sessions that no longer exist. The list is guarded by `_lock`; a forked child continues with its copy."""


def remember(code: types.CodeType, session: Session, frame: Frame) -> None:
    """Keeps the session and the frame that belong to the transformed code `code`, as long as the code object is
    alive."""
    _by_code.set(code, Seen(session, frame))


def opened(session: Session) -> None:
    """Keeps a weak reference to the session of a `prepare_debug` block. This function must be called when the block
    begins."""
    with _lock:
        _sessions[:] = [reference for reference in _sessions if reference() is not None]
        _sessions.append(weakref.ref(session))


def of(code: types.CodeType) -> Seen | None:
    """Returns the record of transformed code; None if no `prepare_debug` block was open when the code was generated."""
    return _by_code.get(code)


def attempts(code: types.CodeType) -> list[Frame]:
    """Returns the frames of a function's failed compilations, from the `prepare_debug` blocks whose sessions are still
    alive."""
    return [
        frame
        for reference in list(_sessions)
        if (session := reference()) is not None
        for frame in list(session.frames)
        if frame.status == "not compiled"
        and (frame.filename, frame.line, frame.function) == (code.co_filename, code.co_firstlineno, code.co_name)
    ]


def remember_restored(original: types.CodeType, code: types.CodeType) -> None:
    """Keeps a weak reference to the transformed code `code` of a cache entry that PyTorch restores for a function."""
    references = [refers for refers in _restored.get(original) or () if refers() is not None]
    _restored.set(original, [*references, weak.reference(code)])


def restored_of(original: types.CodeType) -> list[types.CodeType]:
    """Returns the transformed code objects of the cache entries that PyTorch restored for a function while a
    `prepare_debug` block was open."""
    return [code for refers in _restored.get(original) or () if (code := refers()) is not None]
