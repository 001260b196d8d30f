"""The journal of a `prepare_debug` block: lines of JSON in a file that only grows, written while the block is open.

The journal of a process that died is kept, and `capture.recovery` rebuilds `index.md` and `session.json` from the
journal. Each line is one write, so a process that dies during a write loses only that line. Lines are not buffered in
the process: a written line survives the end of the process, but not a loss of power. The journal is locked as long as
its process lives, which distinguishes an open block from a block whose process died.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from depyf import _core

try:
    import fcntl
except ImportError:  # The system has no record locks.
    fcntl = None  # type: ignore[assignment]

VERSION = 1
PATTERN = "journal_*.jsonl"
MAX_BYTES = 64 << 20  # A bound for a program that compiles without end; no known program writes as much.

_of_this_process: dict[tuple[int, str], int] = {}
"""Maps (process id, path) to the file descriptor of an open journal. Closing another descriptor of the same file would
release the process's record lock, so a process reads its own journals through the descriptors in `_of_this_process`.
`_of_this_process` has no lock, as each write is one assignment; `close` clears an entry. A forked child ignores the
entries of its parent, because its process id differs."""


class Journal:
    """Appends lines to the file of one journal. A `Journal` is not thread-safe. No method raises an exception:
    `problem` states why nothing is written."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = ""
        self._file = -1
        self._process = 0
        self._size = 0
        self._is_torn = False
        self.problem = ""

    @property
    def is_ours(self) -> bool:
        """True in the process that began the journal; False before the journal has begun, and in a process that was
        forked after the beginning."""
        return self._process == os.getpid()

    def begin(self, head: dict[str, Any]) -> None:
        """Creates the journal's file, whose first line contains the fields of `head`. A forked process creates its own
        journal file."""
        self.close()
        if self._process:
            head = {"forked_from": self._process, **head}
        self._process = os.getpid()
        self._size, self._is_torn, self.problem = 0, False, ""
        try:
            for number in itertools.count():
                suffix = f"_{number}" if number else ""
                path = str(self._directory / f"journal_{self._process}{suffix}.jsonl")
                try:
                    self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)
                except FileExistsError:  # An earlier process had the same process id.
                    continue
                break
        except OSError as error:
            self.problem = f"{error.strerror or error}"
            return
        self._path = path
        _of_this_process[self._process, path] = self._file
        if fcntl is not None:
            with contextlib.suppress(OSError):  # Some network file systems cannot lock files.
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.write({"journal": VERSION, "process": self._process, **head})

    def write(self, line: dict[str, Any]) -> None:
        """Appends a line."""
        if self._file < 0 or self.problem:
            return
        try:
            data = _core.json_text(line, levels=0).encode() + b"\n"
            if self._size + len(data) > MAX_BYTES:
                data, self.problem = b'{"full": true}\n', "it has reached its greatest size"
            # If the previous line is incomplete, because the disk was full for example, a line break keeps the
            # incomplete line from corrupting the next line.
            if self._is_torn:
                data = b"\n" + data
            written = os.write(self._file, data)
            self._is_torn = written != len(data)
            self._size += written
        except (OSError, TypeError, ValueError, RecursionError) as error:
            self.problem = f"{type(error).__name__}: {error}"

    def give_up(self, problem: str) -> None:
        """Stops writing after a last line that states the reason, `problem`."""
        self.write({"given_up": problem})
        self.problem = self.problem or problem

    def remove(self) -> None:
        """Removes the journal's file, for use when `session.json` contains everything that is in the journal."""
        if self.is_ours and self._path:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        self.close()

    def close(self) -> None:
        """Stops writing. The journal's file is kept, and counts as the journal of a block that has ended."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1
        _of_this_process.pop((self._process, self._path), None)


def is_open(path: Path) -> bool:
    """True if the process that writes a journal is alive, and its block is open.

    Raises:
        OSError: the file cannot be read.
    """
    if (os.getpid(), str(path)) in _of_this_process:
        return True
    if fcntl is None:
        return False
    with open(path, "rb") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return True
        except OSError:  # Some network file systems cannot lock files.
            return False
    return False


def lines(path: Path) -> Iterator[dict[str, Any] | None]:
    """Yields the data in each line of a journal; None for each line that cannot be read, such as the last line if the
    process died while writing it.

    Raises:
        OSError: the file cannot be read.
    """
    own = _of_this_process.get((os.getpid(), str(path)))
    data = path.read_bytes() if own is None else os.pread(own, os.fstat(own).st_size, 0)
    for part in data.split(b"\n"):
        if not part.strip():
            continue
        try:
            line = json.loads(part)
        except (ValueError, RecursionError):
            line = None
        yield line if isinstance(line, dict) else None
