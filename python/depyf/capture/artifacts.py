"""The files of a block's compilations, and which of them are the running code.

What runs from its file is decided when all is known that decides it. A graph that a backend runs as it is runs from its
file as soon as it is told of. Of a graph that Inductor is given the kernels run in its place; where the compilation has
ended without any, it is written anew. Output code waits until it is loaded: its functions then get the positions
of the dumped file, which has the same lines under a head of comments.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from depyf import decompilation, dump, files, names, running
from depyf.capture import hub, substitution
from depyf.capture.compilation import Compilation, Item
from depyf.compat import graphs
from depyf.provenance import annotate
from depyf.session import Artifact, Frame

_GRAPHS = ("Captured_Graph", "Forward_graph", "Backward_graph")
_OTHER_DUMP = "the files of another block, which was entered before, do"
_ENDED = "the block ended before it was known what runs"
_KERNELS = "Inductor's kernels run in its place"


def _goes_to_inductor(item: Item, compile: Compilation) -> bool:
    """Does Inductor make kernels of a graph? One that calls nothing runs as it is."""
    return item.kind in _GRAPHS and compile.by_inductor and item.graph is not None and graphs.computes(item.graph)


class Artifacts:
    """Writes the files of one block. Not thread safe: the recorder's lock is held."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._taken: set[str] = set()
        self._graphs: dict[int, list[Item]] = {}  # number of nodes -> those that run from their files
        self._kernels: dict[str, tuple[Item, Compilation]] = {}  # by the path of Inductor's file

    def read(self, file: str) -> str:
        """The text of a file of the dump."""
        return (self.directory / file).read_text(encoding="utf-8")

    def claim(
        self, template: str, text: Callable[[int], str], core: Callable[[str], str] | None = None
    ) -> tuple[str, bool]:
        """Writes a file under the first number that is free; see `files.claim`."""
        start = f"{self.directory}{os.sep}"
        path, created = files.claim(lambda n: start + template.format(n), text, self._taken, core)
        self._taken.add(path)
        return path, created

    # Graphs, IR and kernels

    def write(self, compile: Compilation, *, last: bool = False) -> None:
        """Writes what is known of a compilation's items; with `last`, also those that would wait."""
        for item in compile.items:
            if item.artifact is None and (last or not self._waits(item, compile)):
                self._write(item, compile)
            if last and item.graph is not None:
                if not compile.has_kernels:  # what was said of it does not hold: it runs as it is
                    self.unwrite(compile, item)
                    compile.by_inductor = False
                    self._write(item, compile)
                item.graph = None

    def write_alone(self, item: Item) -> Artifact:
        """Writes an artifact of no compilation."""
        return self._write(item, None)

    def _waits(self, item: Item, compile: Compilation) -> bool:
        if item.kind == "kernel":
            if item.path is None or not hub.substitutes(self.directory):
                return False
            self._kernels[item.path] = item, compile
            # What comes from a cache is loaded before it is told of.
            return not compile.cached or graphs.loaded_module(item.path) is None
        return False

    def _write(self, item: Item, compile: Compilation | None, module: types.ModuleType | None = None) -> Artifact:
        frame = None if compile is None else compile.frame

        def text(runs: str | None) -> str:
            loaded = module is not None
            return dump.artifact_text(item.kind, item.text, item.direction, frame, runs, is_python=loaded)

        runs, codes, reason = None, {}, _OTHER_DUMP if hub.active() else _ENDED
        can_run = item.kind in _GRAPHS or item.kind == "kernel"
        if can_run:
            if item.graph is None and item.path is None:
                reason = "this PyTorch does not show what runs"
            elif compile is not None and _goes_to_inductor(item, compile):
                reason = _KERNELS
            elif hub.substitutes(self.directory):
                candidate = text(dump.runs_text(item.kind, ""))
                if item.graph is not None:
                    item.swap, reason = substitution.graph_swap(item.graph, candidate)
                    codes = {} if item.swap is None else {"forward": item.swap.pairs[0][1]}
                else:
                    path = str(item.path)
                    module = module or graphs.loaded_module(path)
                    item.swap, reason = substitution.kernel_swap(module, item.text, candidate, path)
                    codes = {} if item.swap is None else {one.__qualname__: code for one, code in item.swap.pairs}
            runs = dump.runs_text(item.kind, reason)
        content = text(runs)
        if item.kind == "kernel":
            template = f".kernel_{{}}{item.suffix}"
        else:
            template = f".{item.kind}.{{}}{item.suffix}"
        stem = "__no_compile_id" if compile is None else compile.stem
        file, item.created = self.claim(stem + template, lambda n: content, annotate.plain)
        item.artifact = Artifact(item.kind, os.path.basename(file), item.direction, running=can_run and not reason)
        if frame is not None:
            frame.artifacts.append(item.artifact)
        if item.swap is not None:
            self._announce(file, item.kind, item.direction, frame, codes)
            item.swap.do(file)
            if item.graph is not None:
                item.modules.add(item.graph)
                item.nodes = graphs.node_names(item.graph)
                self._graphs.setdefault(len(item.nodes), []).append(item)
        if reason != _KERNELS:  # else it is known at the end of the compilation
            item.graph = None
        return item.artifact

    def unwrite(self, compile: Compilation, item: Item) -> None:
        """Takes an item's file away."""
        self._kernels.pop(str(item.path), None)
        if item.artifact is None:
            return
        compile.frame.artifacts.remove(item.artifact)
        path = self.directory / item.artifact.file
        if item.swap is not None:
            item.swap.undo()
            item.swap = None
        if item.nodes:
            self._graphs[len(item.nodes)].remove(item)
            item.nodes = ()
        running.files.pop(str(path), None)
        self._taken.discard(str(path))
        if item.created:
            path.unlink(missing_ok=True)
        item.artifact = None

    def knows(self, path: str) -> bool:
        """Is this the path of output code that was told of?"""
        return path in self._kernels

    def loaded(self, path: str, module: types.ModuleType) -> None:
        """Inductor has loaded output code."""
        item, compile = self._kernels.get(path, (None, None))
        if item is None:
            return
        if item.artifact is None:
            self._write(item, compile, module)
        elif item.artifact.running:
            # Once more: what ran until now came from a cache.
            text = self.read(item.artifact.file)
            swap, _ = substitution.kernel_swap(module, item.text, text, path)
            if swap is not None:
                swap.do(str(self.directory / item.artifact.file))

    def recompiled(self, graph: Any, current: Callable[[], Compilation | None]) -> None:
        """PyTorch has made the function of a graph module anew: of one that runs from its file, or of a copy.

        Args:
            graph: the graph module.
            current: gives the compilation that is at work.
        """
        same_size = self._graphs.get(graphs.size(graph)) if self._graphs else None
        if not same_size:
            return
        found = [item for item in same_size if graph in item.modules]
        if not found:
            compile = current()
            names_ = graphs.node_names(graph)
            mine = compile.items if compile is not None else []
            found = [item for item in mine if item in same_size and item.nodes == names_]
        for item in found[-1:]:
            item.modules.add(graph)
            artifact = item.artifact
            if artifact is not None and artifact.running:
                swap = item.swap.again(graphs.forward_of(graph)) if item.swap is not None else None
                if swap is None:
                    swap, _ = substitution.graph_swap(graph, self.read(artifact.file))
                if swap is not None:
                    swap.do(str(self.directory / artifact.file))

    # Transformed code

    def write_transformed(self, frame: Frame, code: types.CodeType, *, may_run: bool) -> types.CodeType | None:
        """Writes the source of transformed code. Returns the code compiled from that file, if it may run."""
        part = names.safe_file_part(frame.function)
        first = f"__transformed_code_0_for_{part}"
        result = decompilation.decompile(code, name=first)
        frame.proved, frame.not_proved = result.proved, result.reason or None

        runs = "runs from this file"

        def text(n: int) -> str:
            # Another number is made anew only where the name stands not in the head of the function alone.
            name = f"__transformed_code_{n}_for_{part}"
            again = n != 0 and result.source.count(first) != 1
            source = result.named(name).source if again else result.source.replace(first, name)
            return dump.transformed_text(frame, source, runs)

        replacement = None
        if not may_run:
            runs = "what runs is the code of another block's file, or Dynamo's own"
        else:
            # The number is no part of the code, and moves no line.
            replacement = running.from_decompilation(result, text(0), "<dump>")
            frame.running = replacement is not None
            runs = runs if frame.running else "what runs is Dynamo's own code"
        path = self.claim(f"__transformed_code_{{}}_for_{part}.py", text)[0]
        frame.transformed_file = os.path.basename(path)
        if replacement is None:
            return None
        replacement = running.named(replacement, path)
        self._announce(path, "transformed code", None, frame, {"call": replacement})
        return replacement

    def _announce(
        self, path: str, kind: str, direction: str | None, frame: Frame | None, codes: substitution.Codes
    ) -> None:
        """Tells debuggers of a file that runs."""
        code = next((code for name, code in codes.items() if name.rpartition(".")[2] in ("call", "forward")), None)
        if code is None:
            code = next(iter(codes.values()))
        function, compile_id = ("?", "?") if frame is None else (frame.function, frame.compile_id)
        running.files[path] = running.RunningFile(path, kind, direction, function, compile_id, running.first_line(code))
