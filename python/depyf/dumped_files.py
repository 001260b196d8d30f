"""The dumped files from which code runs or ran, as plain data for everything that shows a file.

`depyf.running` decides which files these are.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunningFile:
    """A file in whose lines debuggers stop."""

    path: str
    kind: str
    """"transformed code", "Captured_Graph", "Forward_graph", "Backward_graph" or "kernel"."""
    direction: str | None
    """"forward" or "backward"; None for kinds without a direction."""
    function: str
    """The user's function, or the resume function, that the file was made for."""
    compile_id: str
    first_line: int
    """The first line that has an effect."""


known: dict[str, RunningFile] = {}
"""Path -> the file, for every file from which code has run in this process. Nothing clears entries, because code that
ran from a file may be shown later. It has no lock, as each write is one assignment; a forked child goes on with its
copy."""
