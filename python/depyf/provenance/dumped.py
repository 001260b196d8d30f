"""Writes the links between source lines and kernels into a dump: as comments in its files, and as `provenance.json`."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from depyf import _core, files
from depyf.provenance.collect import Collected
from depyf.session import Artifact, Frame

FILE = "provenance.json"
SCHEMA_VERSION = 1


class Written(NamedTuple):
    """The links of one compilation."""

    data: _core.JsonText
    """The links between source lines and kernels, in the format of `provenance.json`."""
    tables: str
    """The compilation's table of the costs of its source lines, for tables.md."""


def write(directory: Path, frame: Frame, seen: Collected) -> Written | None:
    """Writes the links of one compilation into its files, and returns the links; None if no graphs were recorded that
    could be linked.

    Raises:
        OSError: a file cannot be written.
    """
    if not seen.captured or not seen.directions:
        return None
    links = _core.Provenance(seen, lambda direction: _replaced(directory, frame, direction))
    for artifact in frame.artifacts:

        def annotated(text: str, artifact: Artifact = artifact) -> str:
            return links.annotated(artifact.file, artifact.kind, artifact.direction, text)

        with contextlib.suppress(FileNotFoundError):
            files.edit(f"{directory}{os.sep}{artifact.file}", annotated)
    missing = [(stage.kind, stage.direction, stage.why) for stage in frame.missing]
    data = _core.JsonText(links.to_json(frame.compile_id, frame.function, frame.compiled_fn, missing))
    frame.provenance = links.story()
    return Written(data, links.tables())


def _replaced(directory: Path, frame: Frame, direction: str | None) -> dict[str, list[str]]:
    """Returns a dict from the name of each node that graph passes created to the names of the nodes that it replaced.
    The names are determined from the texts of the graphs before and after the passes."""

    def texts(kind: str) -> list[str]:
        """Returns a list with the text of the last artifact of a kind and of a direction; an empty list if there is no
        artifact of this kind and direction."""
        names = [
            one.file
            for one in frame.artifacts
            if one.kind == kind and (direction is None or (one.direction == "backward") == (direction == "backward"))
        ]
        return [(directory / name).read_text(encoding="utf-8") for name in names[-1:]]

    halves = {"forward": "Forward_graph", "backward": "Backward_graph"}
    try:
        if direction is None:
            before, after = texts("Joint_graph"), [text for kind in halves.values() for text in texts(kind)]
        else:
            before, after = texts(halves[direction]), texts("AFTER_POST_GRAD")
        return _core.replaced_nodes(before[0], after) if before and after else {}
    except (OSError, ValueError):  # A file was deleted, or contains a lone surrogate.
        return {}


def write_record(directory: Path, compilations: list[_core.JsonText]) -> None:
    """Writes `provenance.json`, which also keeps the links of other runs; an identical run is listed once."""
    if not compilations:
        return
    runs: list[Any] = []
    try:
        data = json.loads((directory / FILE).read_text(encoding="utf-8"))
        if data.get("schema_version") == SCHEMA_VERSION and isinstance(data["runs"], list):
            runs = data["runs"]
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        pass
    mine: Any = {"compilations": compilations}
    if runs:
        as_read = json.loads(_core.json_text(mine, levels=0))
        runs = [run for run in runs if run != as_read]
    runs.append(mine)
    # In `provenance.json`, each chain of links from a source line to a kernel, each file and each kernel has a line of
    # its own.
    text = _core.json_text({"schema_version": SCHEMA_VERSION, "runs": runs}, levels=6)
    files.replace(directory / FILE, text + "\n")
