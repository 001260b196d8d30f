"""The dumped files from which code runs or ran, as plain data for the modules that have to recognise these files.

`depyf.running` determines from which dumped files code runs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunningFile:
    """A dumped file from which code runs; a debugger can stop at the lines of this file."""

    path: str
    kind: str
    """The kind of the file: "transformed code", "Captured_Graph", "Forward_graph", "Backward_graph" or "kernel"."""
    direction: str | None
    """The direction of the graph or kernel: "forward" or "backward"; None for kinds without a direction."""
    function: str
    """The user's function, or the resume function, for which the file was generated."""
    compile_id: str
    first_line: int
    """The line of the first statement with an effect in the function that the file defines."""


known: dict[str, RunningFile] = {}
"""Maps the path of every file from which code has run in this process to the description of the file. Nothing clears
`known`, because a file from which code has run never counts as a file of the user's program. `known` has no lock, as
each write is one assignment; a forked child continues with its copy."""
