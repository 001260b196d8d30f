"""Writes files to a directory that several `prepare_debug` blocks, threads and processes may use at the same time.

A new file appears completely or not at all, and never replaces an unrelated file: if an existing file with other
content has the name, the name with the next number is tried. The files that several writers share, `index.md` and
`session.json`, are merged under a lock. A change that makes an existing file longer is written in place (`edit`).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Container, Iterator
from pathlib import Path

_counter = itertools.count()
"""The counter that numbers the temporary files. The counter has no lock, because `next` is atomic, and nothing clears
the counter. A forked child may number its temporary files as its parent does, because the names of temporary files also
contain the ids of process and thread."""


def check_writable(directory: Path) -> None:
    """Creates the directory if it is missing, and checks that files can be created in it.

    Raises:
        OSError: the directory cannot be created or written to.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        temporary = _temporary(f"{directory}{os.sep}")
        _write(temporary, b"")
        os.unlink(temporary)
    except OSError as error:
        raise type(error)(
            error.errno, f"depyf cannot write to the directory: {error.strerror}", str(directory)
        ) from None


def claim(
    path_for: Callable[[int], str],
    text_for: Callable[[int], str],
    taken: Container[str] = (),
    core: Callable[[str], str] | None = None,
) -> tuple[str, bool]:
    """Writes a text to the first of the numbered paths that is free or has the same content.

    Args:
        path_for: returns the path for a number.
        text_for: returns the text for a number.
        taken: paths that are not used, even if the file at such a path has the same content as the new text.
        core: returns the decisive part of a text, which decides whether two texts count as the same. An existing file
            is replaced if the decisive part of its text equals the decisive part of the new text. If `core` is None, no
            existing file is replaced.

    Returns:
        The path of the file, and True if this call created the file.

    Raises:
        OSError: the text cannot be written.
    """
    for number in itertools.count():
        path = path_for(number)
        if path in taken:
            continue
        data = _encoded(text_for(number))
        if _create(path, data):
            return path, True
        # A path that cannot be read, such as that of a directory, counts as taken, so that the next number is tried.
        with contextlib.suppress(OSError, UnicodeDecodeError):
            there = Path(path).read_bytes()
            if there == data:
                return path, False
            if core is not None and core(there.decode("utf-8")) == core(data.decode("utf-8")):
                replace(path, data.decode("utf-8"))
                return path, False
    raise AssertionError("unreachable")


def replace(path: Path | str, text: str) -> None:
    """Replaces a file so that a reader sees either the old content or the new content.

    Raises:
        OSError: the file cannot be written.
    """
    temporary = _temporary(str(path))
    try:
        _write(temporary, _encoded(text))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def edit(path: Path | str, change: Callable[[str], str]) -> None:
    """Changes the text of a file. If the new text is longer than the old text, it is written into the file in one call,
    which is many times as fast as `replace`.

    If the write fails, the file keeps its old content. During the write a reader can see the beginning of the new text
    and the end of the old text.

    Raises:
        OSError: the file cannot be read or written; FileNotFoundError if it does not exist.
    """
    with open(path, "r+b", buffering=0) as file:
        before = file.readall()
        text = change(before.decode("utf-8"))
        data = _encoded(text)
        if data == before:
            return
        if len(data) > len(before):
            with contextlib.suppress(OSError):
                file.seek(0)
                if file.write(data) == len(data):
                    return
            # The write was incomplete, as on a full disk, so the old content and size are restored.
            file.seek(0)
            file.write(before)
            file.truncate()
    replace(path, text)


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Locks the directory, so that other threads and processes that request the lock wait, if the system supports
    locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # Some network file systems cannot lock files.
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _create(path: str, data: bytes) -> bool:
    """Creates a file with its complete content in one step; returns False if a file of this name exists."""
    temporary = _temporary(path)
    try:
        _write(temporary, data)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError:  # The file system has no hard links.
            try:
                _write(path, data)
            except FileExistsError:
                return False
        return True
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _write(path: str, data: bytes) -> None:
    """Writes a new file."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        written = 0
        while written < len(data):
            written += os.write(file, memoryview(data)[written:])
    finally:
        os.close(file)


def _encoded(text: str) -> bytes:
    # A lone surrogate in a string constant has no encoding in UTF-8, so it is written as a backslash escape.
    return text.encode("utf-8", "backslashreplace")


def _temporary(path: str) -> str:
    """Returns the path of a new temporary file in the directory of a file."""
    directory, separator, _ = path.rpartition(os.sep)
    return f"{directory}{separator}.depyf-{os.getpid()}-{threading.get_ident()}-{next(_counter)}.tmp"
