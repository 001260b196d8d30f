"""A line of source, as everything that points to the user's program has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A line of source."""

    file: str
    """As full a path as is known: Dynamo's words have only the end of it."""
    line: int
    text: str = ""
    function: str = ""

    def __str__(self) -> str:
        return f"{self.name}:{self.line} {self.text}".rstrip()

    @property
    def name(self) -> str:
        """The file's name without its folders."""
        return self.file.replace("\\", "/").rpartition("/")[2]

    @property
    def place(self) -> str:
        """The file for readers: of an installed package with its folders, `torch/optim/optimizer.py`, else its name."""
        file = self.file.replace("\\", "/")
        for folder in ("/site-packages/", "/dist-packages/"):
            _, matched, inside = file.rpartition(folder)
            if matched:
                return inside
        return self.name


def users(lines: Iterable[Line], library: str) -> Line | None:
    """The innermost line that is the user's (see `is_users`). The innermost of all if none is.

    Args:
        lines: a stack, the innermost line last.
        library: the path of its folder, with the separator at its end.
    """
    known = list(lines)
    return next((line for line in reversed(known) if is_users(line.file, library)), known[-1] if known else None)


def is_users(file: str, library: str) -> bool:
    """Is a file the user's?

    Not the user's are those of the library whose folder is given, and dumped files: transformed code runs from them, and
    calls what is compiled next.
    """
    if file.startswith(library):
        return False
    from depyf import running

    return file not in running.known
