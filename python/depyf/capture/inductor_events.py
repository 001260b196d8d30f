"""Records what Inductor reports about a compilation: its IR, the operations that it does not fuse, and the output code
that it loads."""

from __future__ import annotations

import threading
import types
from pathlib import Path
from typing import Any

from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Item
from depyf.capture.compilations import Compilations
from depyf.capture.items import Items
from depyf.compat import graphs, inductor, trace
from depyf.provenance import collect


class InductorEvents:
    """Adds each report of Inductor's to the compilation that the report is about. The class is not thread safe: callers
    must hold the lock of the `Recorder`.

    Args:
        compilations: the compilations of the `prepare_debug` block.
        items: receives IR and output code.
        artifacts: makes output code run from its dumped file after Inductor has loaded it.
    """

    def __init__(self, compilations: Compilations, items: Items, artifacts: Artifacts) -> None:
        self._compilations = compilations
        self._items = items
        self._artifacts = artifacts
        self._has_trace = trace.has_records()
        self._fusing: dict[int, collect.Direction] = {}
        """Maps the id of a thread to the data about the direction (forward or backward) whose IR the thread reported
        last, to which its later reports about fusion are added."""
        self._unfused: dict[int, list[Any]] = {}
        """Maps the id of a thread to the nodes of Inductor's scheduler before fusion. The operations of the nodes in
        `_unfused` are read only if Inductor reports no IR after fusion; otherwise the operations after fusion are
        read."""

    def add_ir(self, kind: str, text: str) -> None:
        """Adds Inductor's IR before or after fusion. If Inductor compiles in another process, also adds a graph that
        the other process sent."""
        compilation, direction = self._compilations.current(), graphs.direction()
        self._items.add(Item(kind, text, direction, ".txt" if kind.startswith("ir_") else ".py"), compilation)
        if compilation is not None and inductor.elsewhere():
            compilation.elsewhere = True
        elif compilation is not None:
            seen, thread = compilation.seen.direction(direction), threading.get_ident()
            self._fusing[thread], self._unfused[thread] = seen, inductor.scheduled_nodes()
            if kind != "ir_pre_fusion":
                self._read_operations()

    def _read_operations(self) -> None:
        """Reads the operations of the IR that the calling thread reported last, unless these operations have already
        been read."""
        nodes = self._unfused.pop(threading.get_ident(), None)
        if nodes is not None:
            self._fusing[threading.get_ident()].operations = inductor.operations(nodes)

    def end_fusion(self) -> None:
        """Ends the reports about fusion: later reports of the calling thread are not added to the direction (forward or
        backward) whose IR was reported last. This method must be called when PyTorch reports, in the calling thread,
        anything that is not about fusion."""
        self._read_operations()
        self._fusing.pop(threading.get_ident(), None)

    def add_not_fused(self, first: str, second: str, reason: str) -> None:
        """Adds the reason why Inductor does not fuse two operations of its IR."""
        seen = self._fusing.get(threading.get_ident())
        if seen is None and (compilation := self._compilations.current()) is not None:
            seen = compilation.seen.direction(graphs.direction())
        if seen is not None:
            seen.not_fused[first, second] = reason

    def add_loaded(self, path: str, module: types.ModuleType) -> None:
        """Adds output code that Inductor has loaded, also if no record of PyTorch's trace announced the output code
        before."""
        is_announced = self._has_trace and not inductor.elsewhere()
        if not is_announced and not self._artifacts.knows(path) and hasattr(module, "call"):
            compilation = self._compilations.current()
            if compilation is not None:
                text, direction = Path(path).read_text(encoding="utf-8"), graphs.direction()
                self._items.add(Item("kernel", text, direction, ".py", path=path), compilation)
                compilation.seen.direction(direction).code = text
        self._artifacts.loaded(path, module)
