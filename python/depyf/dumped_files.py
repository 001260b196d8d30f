"""The dumped files from which code runs or ran, as plain data for everything that shows a file.

`depyf.running` determines from which dumped files code runs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunningFile:
    """A dumped file from which code runs, so that debuggers stop in its lines."""

    path: str
    kind: str
    """The kind of the file: "transformed code", "Captured_Graph", "Forward_graph", "Backward_graph" or "kernel"."""
    direction: str | None
    """The direction of the graph or kernel: "forward" or "backward"; None for kinds without a direction."""
    function: str
    """The user's function, or the resume function, for which the file was generated."""
    compile_id: str
    first_line: int
    """The first line of the file's function that has an effect."""


known: dict[str, RunningFile] = {}
"""Maps the path to the file, for every file from which code has run in this process. Nothing clears
`known`, because code that ran from a file may be shown later. `known` has no lock, as each write is one assignment; a
forked child continues with its copy."""
