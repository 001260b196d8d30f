"""A block for the rest of a process, and for the processes that are forked from it."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import sys
from collections.abc import Callable
from typing import Any, cast

from depyf import locks, report
from depyf.capture import hub
from depyf.capture.recorder import Recorder

__all__ = ["ProcessBlock"]

_FINALIZER_PRIORITY = -100
"""Multiprocessing calls finalizers from the highest priority on, so that those of the program come first."""


class ProcessBlock:
    """A block that gives each process a recorder of its own: the one that began it, and those that are forked from it.

    A recorder is made when the first event of its process arrives, so a process that compiles nothing leaves no trace.
    It ends with the process. A process that is killed leaves its journal.

    Args:
        make: makes the recorder of the current process. It may raise an OSError; then a warning is issued, and the
            process is not recorded.
    """

    def __init__(self, make: Callable[[], Recorder]) -> None:
        self._make = make
        self._lock = locks.Lock()
        self._process = 0
        self._recorder: Recorder | None = None

    def begin(self) -> None:
        """Begins to hear of events."""
        hub.add(cast(hub.Listener, self))
        # Forked processes that end in the usual way call this too.
        atexit.register(self.finish)

    def end(self) -> None:
        """Ends the block, and writes what is left to write for this process."""
        atexit.unregister(self.finish)
        try:
            hub.remove(cast(hub.Listener, self))
        except Exception as failure:
            report.warn(f"depyf could not take its hooks away: {type(failure).__name__}: {failure}")
        self.finish()

    def finish(self) -> None:
        """Writes what is left to write for this process."""
        if self._recorder is not None and self._process == os.getpid():
            self._recorder.finish()

    def recorder(self) -> Recorder | None:
        """Returns the recorder of this process, which the first call makes; None if it cannot be made."""
        if self._process != os.getpid():
            with self._lock:
                if self._process != os.getpid():
                    self._recorder = None  # It is the recorder of the process that this one was forked from.
                    try:
                        self._recorder = self._make()
                    except OSError as error:
                        report.warn(f"depyf does not capture process {os.getpid()}: {error}")
                    self._process = os.getpid()
                    self._finish_with_worker()
        return self._recorder

    def _finish_with_worker(self) -> None:
        """Has `finish` called in a process of multiprocessing, which may end without what `atexit` has registered."""
        util = sys.modules.get("multiprocessing.util")
        if util is not None and multiprocessing.parent_process() is not None:
            util.Finalize(None, self.finish, exitpriority=_FINALIZER_PRIORITY)

    def __getattr__(self, event: str) -> Any:
        """Returns the recorder's handler of an event, or another of its attributes."""
        recorder = self.recorder()
        return _ignore if recorder is None else getattr(recorder, event)


def _ignore(*arguments: Any) -> None:
    """Handles the events of a process that is not recorded."""
