"""Records a process until it ends, and the processes that are forked from it."""

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
"""The priority of depyf's finalizer in `multiprocessing`, which calls finalizers from the highest priority to the
lowest, so that the program's own finalizers run first."""


class ProcessBlock:
    """A block with one recorder for each process: the process that began the block, and every process that is forked
    from it.

    A recorder is created when the first event of its process arrives, so a process that compiles nothing writes no
    files. A recorder ends with its process; a process that is killed leaves its journal.

    Args:
        make: creates the recorder of the current process. If `make` raises an OSError, a warning is issued, and the
            process is not recorded.
    """

    def __init__(self, make: Callable[[], Recorder]) -> None:
        self._make = make
        self._lock = locks.Lock()
        self._process = 0
        self._recorder: Recorder | None = None

    def begin(self) -> None:
        """Begins to receive events from the hooks."""
        hub.add(cast(hub.Listener, self))
        # A forked process that exits normally calls `finish`, too.
        atexit.register(self.finish)

    def end(self) -> None:
        """Stops recording, and writes the index and the remaining files of this process."""
        atexit.unregister(self.finish)
        try:
            hub.remove(cast(hub.Listener, self))
        except Exception as failure:
            report.warn(f"depyf could not take its hooks away: {type(failure).__name__}: {failure}")
        self.finish()

    def finish(self) -> None:
        """Writes the index and the remaining files of this process."""
        if self._recorder is not None and self._process == os.getpid():
            self._recorder.finish()

    def recorder(self) -> Recorder | None:
        """Returns the recorder of this process, which the first call creates; None if it cannot be created."""
        if self._process != os.getpid():
            with self._lock:
                if self._process != os.getpid():
                    self._recorder = None  # drops the recorder of the parent process
                    try:
                        self._recorder = self._make()
                    except OSError as error:
                        report.warn(f"depyf does not capture process {os.getpid()}: {error}")
                    self._process = os.getpid()
                    self._finish_with_worker()
        return self._recorder

    def _finish_with_worker(self) -> None:
        """Registers `finish` with `multiprocessing`, whose worker processes may end without calling the functions that
        are registered with `atexit`."""
        util = sys.modules.get("multiprocessing.util")
        if util is not None and multiprocessing.parent_process() is not None:
            util.Finalize(None, self.finish, exitpriority=_FINALIZER_PRIORITY)

    def __getattr__(self, event: str) -> Any:
        """Returns the recorder's handler of an event, or another attribute of the recorder."""
        recorder = self.recorder()
        return _ignore if recorder is None else getattr(recorder, event)


def _ignore(*arguments: Any) -> None:
    """Ignores an event, in a process that is not recorded."""
