"""Records the graphs that PyTorch passes to `lazy_format_graph_code`, which formats graphs for PyTorch's logs, during a
compilation. Also handles the graph modules whose functions PyTorch recompiles later."""

from __future__ import annotations

from typing import Any

from depyf import names, weak
from depyf.capture import graph_texts
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation, Item
from depyf.capture.compilations import Compilations
from depyf.capture.items import Items
from depyf.capture.trace_records import DIRECTIONS
from depyf.compat import at_work, compiled, fx_nodes, graphs, live_graphs, runtime_asserts, trace
from depyf.provenance import collect

_WITH_OBJECT = {"Forward graph": "Forward_graph", "Backward graph": "Backward_graph"}
"""Maps each name under which PyTorch passes a graph to `lazy_format_graph_code` to the kind of the graph. Only graphs
that may run from their files are listed."""
_KINDS = {**_WITH_OBJECT, "Joint graph": "Joint_graph", "AFTER POST GRAD": "AFTER_POST_GRAD"}
"""Maps each name under which PyTorch passes a graph to `lazy_format_graph_code` to the kind of the graph. If PyTorch
has no structured trace, the texts of all listed graphs are taken from the calls of `lazy_format_graph_code`."""


class ShownGraphs:
    """Adds each graph that PyTorch or another library passes to `lazy_format_graph_code` with a name to the compilation
    that the graph belongs to. The class is not thread safe: callers must hold the lock of the `Recorder`.

    Args:
        compilations: the compilations of the `prepare_debug` block.
        items: receives the texts of graphs.
        artifacts: makes a graph run from its file again after PyTorch has recompiled the graph's function.
    """

    def __init__(self, compilations: Compilations, items: Items, artifacts: Artifacts) -> None:
        self._compilations = compilations
        self._items = items
        self._artifacts = artifacts
        self._has_trace = trace.has_records()

    def take(self, name: str, graph: Any, caller: str) -> None:
        """Adds a graph to the compilation that the calling thread is working on. If the thread is not compiling, a
        graph from a library other than torch is added to the session, and a graph from torch is ignored.

        Args:
            caller: the name of the module that called `lazy_format_graph_code` with the graph.
        """
        number = names.compiled_fn_number(name)
        is_of_torch = caller.partition(".")[0] == "torch"
        if number is not None:
            compilation = self._compilations.current()
            if compilation is not None:
                self._add_captured(compilation, number, graph)
        elif not is_of_torch:
            item = Item(names.safe_file_part(name), graphs.text(graph), graphs.direction(), ".py")
            self._items.add(item, self._compilations.current())
        elif name in _WITH_OBJECT or name.lower() in collect.NAMES:
            compilation = self._compilations.current()
            if compilation is not None:
                compilation.seen.add_graph(name, graphs.direction(), fx_nodes.rows(graph))
                if name in _WITH_OBJECT:
                    compilation.graphs[_WITH_OBJECT[name]] = weak.reference(graph)
                self._add_text(compilation, _KINDS.get(name), graph)

    def take_again(self, graph: Any) -> None:
        """Records that PyTorch has recompiled the function of a graph, or the function of a copy of a graph."""
        self._artifacts.recompiled(graph, self._compilations.current)

    def _add_captured(self, compilation: Compilation, number: int, graph: Any) -> None:
        """Adds the graph that Dynamo has captured, for which Dynamo has chosen the name `__compiled_fn_<number>`."""
        compilation.graphs["Captured_Graph"] = weak.reference(graph)
        backend = compiled.backend_name(at_work.backend_at_work())
        compilation.by_inductor, compilation.by_aot = backend == "inductor", backend.startswith("aot_")
        seen = compilation.seen
        seen.captured, seen.graph = fx_nodes.rows(graph), fx_nodes.identity(graph)
        seen.has_modules = any([row.modules for row in seen.captured])
        if compilation.by_inductor or compilation.by_aot:
            seen.inputs = live_graphs.inputs(graph)
        compilation.frame.runtime_asserts = runtime_asserts.read(graph)
        self._items.set_number(compilation, number)
        self._add_text(compilation, "Captured_Graph", graph)

    def _add_text(self, compilation: Compilation, kind: str | None, graph: Any) -> None:
        """Adds the text of a graph if this PyTorch has no structured trace. If PyTorch has a structured trace, the text
        of the graph comes from a record of the trace, and `_add_text` does nothing."""
        if self._has_trace or kind is None:
            return
        if kind == "Captured_Graph" and any(item.kind == kind for item in compilation.items):
            return
        text = graphs.text(graph)
        if text:
            direction = DIRECTIONS.get(kind) or graphs.direction()
            text = graph_texts.readable(kind, direction, text, compilation.seen)
            runs = compilation.graphs.pop(kind, weak.NOTHING)
            self._items.add(Item(kind, text, direction, ".py", graph=runs), compilation)
