"""Writes the files of the compilations in a `prepare_debug` block, and decides which graphs and kernels run code that
is compiled from their files.

If the backend runs a graph unchanged, the graph runs code that is compiled from the graph's dumped file. If Inductor is
the backend, depyf expects that kernels run in place of the graph, and writes this into the head of the graph's file. If
Inductor's compilation ends without kernels, depyf writes the file of the graph again, and makes the graph run from this
file. Inductor's output code is dumped when Inductor loads it. The dumped file of output code has the lines of
Inductor's own file below a header of comments, and the functions of the output code get the file name and line numbers
of the dumped file.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from depyf import _core, decompilation, dump, files, names, running, weak
from depyf.capture import hub, substitution
from depyf.capture.compilation import Compilation, Item
from depyf.compat import graphs
from depyf.provenance import annotate
from depyf.session import Artifact

_GRAPHS = ("Captured_Graph", "Forward_graph", "Backward_graph")
_OTHER_DUMP = "the files of another block, which was entered before, do"
_ENDED = "the block ended before it was known what runs"
_KERNELS = "Inductor's kernels run in its place"
_LOWERED = "the graphs that AOTAutograd made of it run in its place"


def _expected_instead(item: Item, compile: Compilation) -> str:
    """Returns the reason why the backend is expected not to run a graph unchanged; "" if the backend is expected to run
    the graph unchanged. A graph without call nodes always runs unchanged."""
    graph = item.graph()
    if graph is None or not graphs.computes(graph):
        return ""
    if compile.by_inductor and item.kind in _GRAPHS:
        return _KERNELS
    return _LOWERED if compile.by_aot and item.kind == "Captured_Graph" else ""


def _changes_later(item: Item, compile: Compilation) -> bool:
    """True if PyTorch compiles or changes the function of a graph only after depyf has received the graph, and will
    also report the end of the compilation.

    PyTorch compiles the function of a captured graph when the function is first used, and the backend must receive the
    graph while its function is not yet compiled. PyTorch later changes how the graphs of AOTAutograd take their inputs.
    If a graph of AOTAutograd ran from its file before PyTorch makes this change, the code from the file would have to
    be compiled and proved again.
    """
    if not compile.started or compile.ended:
        return False
    return graphs.is_made_later(item.graph()) if item.kind == "Captured_Graph" else compile.by_aot


def _codes_of(swap: running.Swap) -> substitution.Codes:
    """Returns {"forward": code}, where `code` is the code object that the `Swap` assigns to the function of the
    outermost graph module."""
    return {"forward": swap.pairs[0][1]}


class Artifacts:
    """Writes the files of one `prepare_debug` block. The class is not thread safe: callers must hold the lock of the
    `Recorder`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._taken: set[str] = set()
        self._graphs: weak.Table[Item] = (
            weak.Table()
        )  # The keys are the graph modules that run from their files, and the copies of these modules.
        self._sizes: set[int] = set()  # the node counts of the graphs that run from their files
        self._kernels: dict[str, tuple[Item, Compilation]] = {}  # path of Inductor's file -> item and compilation
        self._substituting = False  # true while `_substitute` proves code; `recompiled` then does nothing

    def path(self, file: str) -> str:
        """Returns the path of a file of the dump."""
        return f"{self.directory}{os.sep}{file}"

    def read(self, file: str) -> str:
        """Returns the text of a file of the dump."""
        return Path(self.path(file)).read_text(encoding="utf-8")

    def claim(
        self, template: str, text: Callable[[int], str], core: Callable[[str], str] | None = None
    ) -> tuple[str, bool]:
        """Writes a file whose name is `template` with the first free number inserted; see `files.claim`. Returns the
        path, and true if the file was created."""
        path, created = files.claim(lambda n: self.path(template.format(n)), text, self._taken, core)
        self._taken.add(path)
        return path, created

    # The following methods write graphs, IR and kernels.

    def write(self, compile: Compilation, *, last: bool = False) -> None:
        """Writes the files of a compilation's items (graphs, IR and kernels). If `last` is true, the compilation has
        ended, and output code that Inductor has not loaded is written, too. Each graph that waited for the end of the
        compilation is then made to run from its file, if the code from the file is proved equal to the graph's code."""
        for item in compile.items if last else [item for item in compile.items if item.artifact is None]:
            if item.artifact is None and (last or not self._waits(item, compile)):
                self._supersede(item, compile)
                self._write(item, compile)
            if last and item.waiting_text:
                self._substitute(item, compile)
            if last and item.graph() is not None:
                if not (compile.has_kernels if compile.by_inductor else compile.has_lowered):
                    # The header of the graph's file states that other code runs in place of the graph, but the backend
                    # has generated no other code, so the file is written again.
                    self.unwrite(compile, item)
                    compile.by_inductor = compile.by_aot = False
                    self._write(item, compile)
                item.graph = weak.NOTHING

    def _supersede(self, item: Item, compile: Compilation) -> None:
        """Rewrites the files of the graphs from which the backend generated `item`: once `item` exists, these graphs do
        not run unchanged, and their files must not state that they do."""
        kinds: tuple[str, ...]
        if item.kind == "Forward_graph":
            kinds, reason = ("Captured_Graph",), _LOWERED
        elif item.kind == "kernel":
            of_direction = "Backward_graph" if item.direction == "backward" else "Forward_graph"
            kinds, reason = ("Captured_Graph", of_direction), _KERNELS
        else:
            return
        for earlier in list(compile.items):
            if earlier.kind in kinds and earlier.artifact is not None and earlier.artifact.running:
                self._write_as_not_running(earlier, compile, reason)

    def _write_as_not_running(self, item: Item, compile: Compilation, reason: str) -> None:
        """Writes the file of a graph again, with the reason why the graph does not run from its file."""
        if item.artifact is not None:
            place = compile.frame.artifacts.index(item.artifact)
            self.unwrite(compile, item)
            item.superseded = reason
            self._write(item, compile)
            compile.frame.artifacts.insert(place, compile.frame.artifacts.pop())

    def _substitute(self, item: Item, compile: Compilation) -> None:
        """Makes a graph run code from its dumped file if the code is proved equal to PyTorch's code. Is called for a
        graph that waited for the end of its compilation."""
        text, item.waiting_text = item.waiting_text, ""
        graph, item.graph = item.graph(), weak.NOTHING
        if graph is None or item.artifact is None:
            return
        self._substituting = True
        try:
            item.swap, reason = substitution.graph_swap(graph, text)
        finally:
            self._substituting = False
        if item.swap is None:
            self._write_as_not_running(item, compile, reason)
        else:
            file = self.path(item.artifact.file)
            self._announce(file, item.kind, item.direction, compile, _codes_of(item.swap), item.swap)
            item.swap.do(file)

    def write_alone(self, item: Item) -> Artifact:
        """Writes an artifact that belongs to no compilation."""
        return self._write(item, None)

    def _waits(self, item: Item, compile: Compilation) -> bool:
        if item.kind == "kernel":
            if item.path is None or item.superseded or not hub.substitutes(self.directory):
                return False
            self._kernels[item.path] = item, compile
            # Output code from a cache is already loaded when PyTorch's trace reports it. The file of output code that
            # is already loaded is written immediately.
            return graphs.loaded_module(item.path) is None
        return False

    def _write(self, item: Item, compile: Compilation | None, module: types.ModuleType | None = None) -> Artifact:
        frame = None if compile is None else compile.frame
        if module is None and item.kind == "kernel" and item.path is not None:
            module = graphs.loaded_module(item.path)

        def text(runs: str | None) -> str:
            loaded = module is not None  # PyTorch has compiled the text of a loaded module, so it is valid Python.
            return dump.artifact_text(item.kind, item.text, item.direction, frame, runs, is_python=loaded)

        runs, codes, reason = None, {}, _OTHER_DUMP if hub.active() else _ENDED
        can_run = item.kind in _GRAPHS or item.kind == "kernel"
        if can_run:
            graph = item.graph()
            if item.superseded:
                reason = item.superseded
            elif graph is None and item.path is None:
                reason = "this PyTorch does not show what runs"
            elif compile is not None and (expected := _expected_instead(item, compile)):
                reason = expected
            elif hub.substitutes(self.directory):
                candidate = text(dump.runs_text(item.kind, ""))
                if graph is not None and compile is not None and _changes_later(item, compile):
                    item.waiting_text, reason = candidate, ""
                elif graph is not None:
                    item.swap, reason = substitution.graph_swap(graph, candidate)
                    codes = {} if item.swap is None else _codes_of(item.swap)
                else:
                    path = str(item.path)
                    item.swap, reason = substitution.kernel_swap(module, item.text, candidate, path)
                    codes = {} if item.swap is None else item.swap.codes()
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
            self._announce(file, item.kind, item.direction, compile, codes, item.swap)
            item.swap.do(file)
        if can_run and graph is not None and (item.swap is not None or item.waiting_text):
            item.nodes = graphs.node_names(graph)
            item.frame = frame
            self._graphs.set(graph, item)
            self._sizes.add(len(item.nodes))
        # The reference to the graph is kept only if the end of the compilation decides whether the graph runs from its
        # file.
        if reason not in (_KERNELS, _LOWERED) and not item.waiting_text:
            item.graph = weak.NOTHING
        return item.artifact

    def unwrite(self, compile: Compilation, item: Item) -> None:
        """Removes the dumped file of a graph, IR or kernel. If code from the removed file runs in place of PyTorch's
        own code, makes PyTorch's own code run again."""
        if self._kernels.get(str(item.path), (None, None))[0] is item:
            del self._kernels[str(item.path)]
        if item.artifact is None:
            return
        compile.frame.artifacts.remove(item.artifact)
        path = self.directory / item.artifact.file
        if item.swap is not None:
            item.swap.undo()
            item.swap = None
        for graph, its in self._graphs.items():
            if its is item:
                self._graphs.pop(graph)
        item.nodes = ()
        item.waiting_text = ""
        running.files.forget(str(path))
        self._taken.discard(str(path))
        if item.created:
            path.unlink(missing_ok=True)
        item.artifact = None

    def knows(self, path: str) -> bool:
        """True if `path` is the path of output code that has been added to a compilation."""
        return path in self._kernels

    def loaded(self, path: str, module: types.ModuleType) -> None:
        """This method must be called when Inductor has loaded output code. If the file of the output code is not yet
        written, writes it. If the file of the output code is already written and runs, makes the functions of the newly
        loaded module run the code of the file."""
        item, compile = self._kernels.get(path, (None, None))
        if item is None:
            return
        if item.artifact is None:
            self._write(item, compile, module)
        elif item.artifact.running:
            # Inductor has loaded the output code again, so the functions of the new module must be changed too, to run
            # the code of the dumped file.
            text = self.read(item.artifact.file)
            swap, _ = substitution.kernel_swap(module, item.text, text, path)
            if swap is not None:
                swap.do(self.path(item.artifact.file))

    def recompiled(self, graph: Any, current: Callable[[], Compilation | None]) -> None:
        """Is called when PyTorch has recompiled the function of a graph module. If the graph module runs from its
        dumped file, or is a copy of a module that does, the recompiled function is made to run the code of the file
        again.

        Args:
            graph: the graph module.
            current: returns the compilation that is in progress.
        """
        if self._substituting or graphs.size(graph) not in self._sizes:
            return
        item = self._graphs.get(graph)
        compile = current() if item is None or item.waiting_text else None
        if item is None:
            names_ = graphs.node_names(graph)
            for _, candidate in self._graphs.items():
                if compile is not None and candidate.frame is compile.frame and candidate.nodes == names_:
                    item = candidate
        if item is None:
            return
        if item.waiting_text and compile is not None:
            # PyTorch can recompile a graph before the compilation has ended, while the graph still waits for its
            # substitution.
            is_its_own = item.graph() is graph
            self._substitute(item, compile)
            if is_its_own:
                return
        self._graphs.set(graph, item)
        artifact = item.artifact
        if artifact is not None and artifact.running:
            function = graphs.forward_of(graph)
            swap = item.swap.again(function) if item.swap is not None else None
            if swap is None:
                swap, _ = substitution.graph_swap(graph, self.read(artifact.file))
            if swap is not None:
                path = self.path(artifact.file)
                swap.do(path)
                if path in running.known:
                    running.files.announce(running.known[path], function)

    # The following methods write and announce transformed code.

    def write_transformed(self, compile: Compilation, code: types.CodeType, *, may_run: bool) -> types.CodeType | None:
        """Writes the source of transformed code to a file. Returns the code that was compiled from the written file;
        None if the compiled code must not run in place of the transformed code."""
        frame = compile.frame
        part = names.safe_file_part(frame.function)
        first = f"__transformed_code_0_for_{part}"
        result = decompilation.decompile(code, name=first)
        frame.proved, frame.not_proved = result.proved, result.reason or None

        runs = "runs from this file"

        def text(n: int) -> str:
            # The source was generated with the number 0 in the function's name. For another number, the name is only
            # replaced in the `def` line, unless it also occurs elsewhere in the source; in this case, the source is
            # generated again.
            name = f"__transformed_code_{n}_for_{part}"
            again = n != 0 and result.source.count(first) != 1
            source = result.named(name).source if again else result.source.replace(first, name)
            return dump.transformed_text(frame, source, runs)

        replacement = None
        if not may_run:
            runs = "what runs is the code of another block's file, or Dynamo's own"
        else:
            # The text for the number 0 is compiled: the number in the file's name is not yet known, but neither the
            # bytecode nor the line numbers depend on it.
            replacement = running.from_decompilation(result, text(0), "<dump>")
            frame.running = replacement is not None
            runs = runs if frame.running else "what runs is Dynamo's own code"
        path = self.claim(f"__transformed_code_{{}}_for_{part}.py", text)[0]
        frame.transformed_file = os.path.basename(path)
        if replacement is None:
            return None
        replacement = _core.moved(replacement, path)
        self._announce(path, "transformed code", None, compile, {"call": replacement})
        return replacement

    def announce_transformed(self, compile: Compilation, code: types.CodeType, function: Any) -> None:
        """Marks the file of transformed code as running as long as `function` is alive. No cache of Dynamo's refers to
        `function`."""
        frame = compile.frame
        if frame.transformed_file is not None:
            path = self.path(frame.transformed_file)
            file = running.RunningFile(
                path, "transformed code", None, frame.function, frame.compile_id, running.first_line(code)
            )
            running.files.announce(file, function)

    def tie(self, compile: Compilation, code: types.CodeType) -> None:
        """Marks the files of a compilation as running, as long as a cache entry of Dynamo's has the transformed code
        `code`."""
        frame = compile.frame
        graphs_that_run = [artifact.file for artifact in frame.artifacts if artifact.running]
        paths = [self.path(file) for file in (frame.transformed_file, *graphs_that_run) if file]
        original = compile.function()
        if original is not None:
            running.files.tie(paths, original, code)

    def _announce(
        self,
        path: str,
        kind: str,
        direction: str | None,
        compile: Compilation | None,
        codes: substitution.Codes,
        swap: running.Swap | None = None,
    ) -> None:
        """Registers a dumped file whose code runs, so that debuggers find the file."""
        frame = None if compile is None else compile.frame
        code = next((code for name, code in codes.items() if name.rpartition(".")[2] in ("call", "forward")), None)
        if code is None:
            code = next(iter(codes.values()))
        function, compile_id = ("?", "?") if frame is None else (frame.function, frame.compile_id)
        file = running.RunningFile(path, kind, direction, function, compile_id, running.first_line(code))
        running.files.announce(file, None if swap is None else swap.function(code))
        if compile is not None and kind != "transformed code":
            original, transformed = compile.function(), compile.transformed()
            if original is not None and transformed is not None:
                running.files.tie([path], original, transformed)
