"""Defines a line of source, by which all other modules refer to places in the user's program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from depyf import dumped_files


@dataclass(frozen=True)
class Line:
    """A line of source to which depyf refers."""

    file: str
    """The path of the file, as far as the path is known: Dynamo's texts about guards contain only the end of the
    path."""
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
        """The file as readers see it: with its folders if it belongs to an installed package, as in
        `torch/optim/optimizer.py`; otherwise its name."""
        file = self.file.replace("\\", "/")
        for folder in ("/site-packages/", "/dist-packages/"):
            _, matched, inside = file.rpartition(folder)
            if matched:
                return inside
        return self.name


def users(lines: Iterable[Line], library: str) -> Line | None:
    """Returns the innermost line of the user's code (see `is_users`); the innermost of all lines if no line is the
    user's; None if `lines` is empty.

    Args:
        lines: the lines of a call stack, the innermost line last.
        library: the path of PyTorch's folder with a separator at its end.
    """
    known = list(lines)
    return next((line for line in reversed(known) if is_users(line.file, library)), known[-1] if known else None)


def is_users(file: str, library: str) -> bool:
    """True if a file belongs to the user's program.

    Files in the folder `library` are not the user's. Dumped files are not the user's: while Dynamo compiles a function
    that transformed code calls, the transformed code is on the call stack, and can run from a dumped file.
    """
    if file.startswith(library):
        return False
    return file not in dumped_files.known
