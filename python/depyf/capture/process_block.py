"""Records a process until the process ends, and also the processes that are forked from it."""

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
    """Records a process with one `Recorder`. Each process that is forked from the recorded process gets a `Recorder` of
    its own.

    A recorder is created when a hook in PyTorch is first called in its process, so a process that compiles nothing
    writes no files. A recorder ends with its process; a process that is killed leaves the recorder's journal.

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
        """Makes the hooks in PyTorch call the methods of the recorder of each process."""
        hub.add(cast(hub.Listener, self))
        # A forked process inherits the registration of `finish`, and calls `finish` when it exits normally.
        atexit.register(self.finish)

    def end(self) -> None:
        """Stops recording, and writes the index and the remaining files of this process."""
        atexit.unregister(self.finish)
        try:
            hub.remove(cast(hub.Listener, self))
        except Exception as failure:
            report.warn(f"depyf could not remove its hooks: {type(failure).__name__}: {failure}")
        self.finish()

    def finish(self) -> None:
        """Writes the index and the remaining files of this process."""
        if self._recorder is not None and self._process == os.getpid():
            self._recorder.finish()

    def recorder(self) -> Recorder | None:
        """Returns the recorder of this process, which the first call in the process creates; None if the recorder
        cannot be created."""
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
        """Returns the attribute `event` of the recorder, which usually is a method that a hook in PyTorch calls. If the
        process has no recorder, returns a function that does nothing."""
        recorder = self.recorder()
        return _ignore if recorder is None else getattr(recorder, event)


def _ignore(*arguments: Any) -> None:
    """Does nothing. The hooks in PyTorch call `_ignore` in a process that is not recorded."""
