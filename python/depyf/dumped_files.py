"""The dumped files that code runs, or ran, from: plain data, which everything that shows a file asks.

`depyf.running` decides which files these are.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunningFile:
    """A file whose lines debuggers stop at."""

    path: str
    kind: str
    """"transformed code", "Captured_Graph", "Forward_graph", "Backward_graph" or "kernel"."""
    direction: str | None
    """"forward" or "backward", where that has a meaning."""
    function: str
    """The user's function, or the resume function, that it was made for."""
    compile_id: str
    first_line: int
    """The first line that does something."""


known: dict[str, RunningFile] = {}
"""Path -> the file, for every file that code has run from in this process. Entries stay, as code that ran from a file may be shown
later; nothing clears them. It has no lock, as each write is one assignment; a forked child goes on with its copy."""
