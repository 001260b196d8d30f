"""Locks that a forked child can acquire.

A forked child has only the thread that forked it. A lock that another thread held during the fork would stay locked in
the child forever, because the child lacks the thread that would release it.
"""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType
from typing import Any

__all__ = ["Lock", "is_held_elsewhere"]


class Lock:
    """A reentrant lock, which is free in a forked child unless the thread that forked held it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _known.add(self)

    def __enter__(self) -> Lock:
        self._lock.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lock.release()

    def _after_fork(self) -> None:
        if is_held_elsewhere(self._lock):
            self._lock = threading.RLock()


def is_held_elsewhere(lock: Any) -> bool:
    """True if another thread holds a reentrant lock at this moment."""
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True


_known: weakref.WeakSet[Lock] = weakref.WeakSet()
"""All `Lock` objects that are alive, so that a forked child can replace those that other threads held. The set `_known`
has no lock, because adding an item is one step. An item is removed when its `Lock` object is freed, and nothing else
clears the set."""


def _after_fork() -> None:
    for lock in list(_known):
        lock._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
