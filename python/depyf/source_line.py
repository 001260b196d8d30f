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


def users(lines: Iterable[Line], library: str) -> Line | None:
    """The innermost line that is the user's. The innermost of all if none is.

    The user's are not those of the library whose folder is given, nor those of dumped files: transformed code runs
    from them, and calls what is compiled next.

    Args:
        lines: a stack, the innermost line last.
        library: the path of its folder, with the separator at its end.
    """
    from depyf import running

    found = list(lines)
    for line in reversed(found):
        if not line.file.startswith(library) and line.file not in running.files:
            return line
    return found[-1] if found else None
