"""Assigns graphs, IR and output code to the compilations that they belong to."""

from __future__ import annotations

import os

from depyf import names
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation, Item
from depyf.session import Session


class Items:
    """Adds items to compilations, and has their files written as soon as the names of the files are known. The class is
    not thread safe: callers hold the recorder's lock.

    Args:
        session: receives the items that belong to no compilation.
        artifacts: writes the files.
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
        """Writes a text about a compilation, which is neither a graph nor code, to a file of its own. Returns the name
        of the file."""
        stem = f"{kind}_of_{names.safe_file_part(compilation.frame.compile_id)}"
        path, _ = self._artifacts.claim(f"{stem}_{{}}.json", lambda n: text)
        return os.path.basename(path)

    def set_number(self, compilation: Compilation, number: int) -> None:
        """Sets the N of the `__compiled_fn_N` that a compilation calls, and has its files written under that name."""
        if compilation.number != number:
            if compilation.number is not None:
                # The code calls another `__compiled_fn_N` than the one that was announced, so the written files have
                # the wrong name.
                for item in compilation.items:
                    self._artifacts.unwrite(compilation, item)
            compilation.number = compilation.frame.compiled_fn = number
        self._artifacts.write(compilation)

    def set_direction_of_last_graph(self, compilation: Compilation, direction: str) -> None:
        """Sets the direction of the last graph if a cache announced the graph right before its output code and without
        a direction."""
        item = compilation.items[-1] if compilation.items else None
        if item is not None and item.kind == "AFTER_POST_GRAD" and item.direction is None:
            self._artifacts.unwrite(compilation, item)
            item.direction = direction

    def write_all(self, compilation: Compilation) -> None:
        """Writes all items of a compilation, including those that wait for its end."""
        self._artifacts.write(compilation, last=True)
