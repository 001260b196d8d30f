"""Shows in the terminal which function PyTorch is compiling, while a compilation takes long.

A separate thread samples the stacks of the other threads twice a second (`compat/at_work`), so that no function of
PyTorch is replaced, and compilations do not slow down. The sampling thread is not started if standard error is no
terminal.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from depyf.compat import at_work

LONG_SECONDS = 2.0
"""The number of seconds after which a compilation is shown."""
_INTERVAL_SECONDS = 0.5
_CLEAR = "\r\x1b[K"
"""The control sequence that erases the terminal's current line, so that the program's own output begins in the first
column."""


class _Watcher:
    """Writes a line about a compilation to the terminal, updates the line, and erases it when the compilation ends."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._ending = threading.Event()
        self._is_shown = False
        self._begun: dict[int, tuple[at_work.Sample, float]] = {}
        """Maps a thread's identifier to the last sample of its compilation and the time of the first sample of that
        compilation."""
        self._thread = threading.Thread(target=self._watch, name="depyf live line", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ends the thread that samples stacks, and erases the line about a compilation."""
        self._ending.set()
        self._thread.join()
        self._show("")

    def _watch(self) -> None:
        while not self._ending.wait(_INTERVAL_SECONDS):
            self._show(self._line(time.monotonic()))

    def _line(self, now: float) -> str:
        """Returns the line about the compilation that has taken longest so far; "" if none has taken `LONG_SECONDS`."""
        begun = {}
        for thread, sample in at_work.samples(without=threading.get_ident()).items():
            before = self._begun.get(thread)
            is_same = before is not None and before[0].key == sample.key
            begun[thread] = (sample, before[1] if before is not None and is_same else now)
        self._begun = begun
        if not begun:
            return ""
        sample, start = min(begun.values(), key=lambda row: row[1])
        if now - start < LONG_SECONDS:
            return ""
        return f"compiling {sample.name}: {sample.stage}, {now - start:.0f} s"

    def _show(self, line: str) -> None:
        if not line and not self._is_shown:
            return
        try:
            width = os.get_terminal_size(self._terminal.fileno()).columns
            # A terminal that does not know its width reports 0 columns.
            self._terminal.write(_CLEAR + (line[: width - 1] if width > 1 else line))
            self._terminal.flush()
        except (OSError, ValueError):  # The terminal does not exist any more, or the program closed the stream.
            self._ending.set()
        self._is_shown = bool(line)


@contextmanager
def live_line() -> Iterator[None]:
    """Shows on standard error each compilation that takes longer than two seconds, while a `with` block is open: only
    in a terminal, and not if the environment variable DEPYF_QUIET is set."""
    terminal = sys.stderr
    try:
        is_wanted = terminal is not None and terminal.isatty() and not os.environ.get("DEPYF_QUIET")
    except ValueError:  # The program has closed standard error.
        is_wanted = False
    watcher = _Watcher(terminal) if is_wanted else None
    try:
        yield
    finally:
        if watcher is not None:
            watcher.end()
