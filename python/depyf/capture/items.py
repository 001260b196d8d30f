"""Assigns graphs, IR and output code to the compilations that they belong to."""

from __future__ import annotations

import os

from depyf import names
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation, Item
from depyf.session import Session


class Items:
    """Adds items (graphs, IR and kernels) to compilations, and has the file of each item written as soon as the name of
    the file is known. The class is not thread safe: callers must hold the lock of the `Recorder`.

    Args:
        session: receives the items that belong to no compilation.
        artifacts: writes the files of graphs, IR and kernels.
    """

    def __init__(self, session: Session, artifacts: Artifacts) -> None:
        self._session = session
        self._artifacts = artifacts

    def add(self, item: Item, compilation: Compilation | None) -> None:
        """Adds an item (a graph, IR or kernel) to a compilation, or to the session if `compilation` is None."""
        if compilation is None:
            self._session.other_artifacts.append(self._artifacts.write_alone(item))
            return
        compilation.items.append(item)
        if compilation.number is not None:
            self._artifacts.write(compilation)

    def write_beside(self, compilation: Compilation, kind: str, text: str) -> str:
        """Writes a text that describes a compilation, but is neither a graph nor code, to a file of its own. Returns
        the name of the file."""
        stem = f"{kind}_of_{names.safe_file_part(compilation.frame.compile_id)}"
        path, _ = self._artifacts.claim(f"{stem}_{{}}.json", lambda n: text)
        return os.path.basename(path)

    def set_number(self, compilation: Compilation, number: int) -> None:
        """Sets the number N of the global `__compiled_fn_N` that the transformed code of a compilation calls, and has
        the files of the compilation written under that name."""
        if compilation.number != number:
            if compilation.number is not None:
                # PyTorch announced another number N before, so the files that are already written have the wrong number
                # in their names.
                for item in compilation.items:
                    self._artifacts.unwrite(compilation, item)
            compilation.number = compilation.frame.compiled_fn = number
        self._artifacts.write(compilation)

    def set_direction_of_last_graph(self, compilation: Compilation, direction: str) -> None:
        """Sets the direction (forward or backward) of the last graph of a compilation, if the graph came from a cache.
        A cache announces a graph without its direction, right before the graph's output code."""
        item = compilation.items[-1] if compilation.items else None
        if item is not None and item.kind == "AFTER_POST_GRAD" and item.direction is None:
            self._artifacts.unwrite(compilation, item)
            item.direction = direction

    def write_all(self, compilation: Compilation) -> None:
        """Writes all items of a compilation, including the items that wait for the end of the compilation."""
        self._artifacts.write(compilation, last=True)
