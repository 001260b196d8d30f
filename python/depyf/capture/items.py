"""Graphs, IR and output code on their way to the compilation that they belong to."""

from __future__ import annotations

import os

from depyf import names
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation, Item
from depyf.session import Session


class Items:
    """Adds items to compilations, and has their files written as soon as the names of the files are known. It is not
    thread safe: callers hold the recorder's lock.

    Args:
        session: receives the items that belong to no compilation.
        artifacts: writes the files.
    """

    def __init__(self, session: Session, artifacts: Artifacts) -> None:
        self._session = session
        self._artifacts = artifacts

    def add(self, item: Item, compilation: Compilation | None) -> None:
        """Adds an item to a compilation; None if it belongs to none."""
        if compilation is None:
            self._session.other_artifacts.append(self._artifacts.write_alone(item))
            return
        compilation.items.append(item)
        if compilation.number is not None:
            self._artifacts.write(compilation)

    def write_beside(self, compilation: Compilation, kind: str, text: str) -> str:
        """Writes a text about a compilation that is no stage of it. Returns the name of the file."""
        stem = f"{kind}_of_{names.safe_file_part(compilation.frame.compile_id)}"
        path, _ = self._artifacts.claim(f"{stem}_{{}}.json", lambda n: text)
        return os.path.basename(path)

    def set_number(self, compilation: Compilation, number: int) -> None:
        """Sets the N of the `__compiled_fn_N` that a compilation calls, and has its files written under that name."""
        if compilation.number != number:
            if compilation.number is not None:
                # The code calls another function than the announced one, so the written name is wrong.
                for item in compilation.items:
                    self._artifacts.unwrite(compilation, item)
            compilation.number = compilation.frame.compiled_fn = number
        self._artifacts.write(compilation)

    def set_direction_of_last_graph(self, compilation: Compilation, direction: str) -> None:
        """Sets the direction of a graph that a cache announces right before output code and without a direction."""
        item = compilation.items[-1] if compilation.items else None
        if item is not None and item.kind == "AFTER_POST_GRAD" and item.direction is None:
            self._artifacts.unwrite(compilation, item)
            item.direction = direction

    def write_all(self, compilation: Compilation) -> None:
        """Writes the items that wait for the end of their compilation, too."""
        self._artifacts.write(compilation, last=True)
