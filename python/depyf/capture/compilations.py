"""The compilations of one `prepare_debug` block, and the compilation that each thread is working on."""

from __future__ import annotations

import threading
import types
from dataclasses import dataclass

from depyf import function_names, running, weak
from depyf.capture import outcomes
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation, link_resume_names
from depyf.compat import at_work, dynamo
from depyf.session import Frame, Session
from depyf.source_line import Line

LOADED = "ahead/"
"""The prefix of the ids of compilations that are loaded from a file."""
PRECOMPILED = "precompile/"
"""The prefix of the ids of compilations by `torch.compiler.precompile`."""


@dataclass
class _AheadOfTime:
    """The function that a thread is compiling ahead of time, or loading from a file."""

    compilation: Compilation | None = None
    """The compilation that captured the graph of the function; None while no graph has been captured."""


class Compilations:
    """The compilations of one `prepare_debug` block. The class is not thread safe: callers must hold the lock of the
    `Recorder`.

    Args:
        session: receives a frame for each compilation.
        artifacts: removes the files of an attempt at a compilation that Dynamo has abandoned.
    """

    def __init__(self, session: Session, artifacts: Artifacts) -> None:
        self.order: list[Compilation] = []
        """All compilations, in the order in which they began."""
        self._session = session
        self._artifacts = artifacts
        self._by_key: weak.Table[Compilation] = weak.Table()  # keys: PyTorch's objects for compilations
        # Maps the id() of each compilation that has changed since the last call of `take_touched` to the compilation.
        self._touched: dict[int, Compilation] = {}
        self._of_thread = threading.local()

    def current(self, function: str | None = None) -> Compilation | None:
        """Returns the compilation that the calling thread is working on; None if the thread is not compiling. If Dynamo
        has restarted the compilation, the artifacts of the abandoned attempt are discarded.

        Args:
            function: the name of the function that is compiled; it is used only if the compilation is not yet known.
        """
        now = dynamo.current()
        ahead: _AheadOfTime | None = getattr(self._of_thread, "ahead", None)
        if now is None:
            compilation = None if ahead is None else ahead.compilation
            if compilation is not None:
                self._touched[id(compilation)] = compilation
            return compilation
        compilation = self._by_key.get(now.key)
        if compilation is None:
            compilation = self._begin(now, function)
        if now.attempt > compilation.attempt:
            self._drop_items(compilation)
            compilation.attempt = compilation.frame.attempt = now.attempt
        self._touched[id(compilation)] = compilation
        if ahead is not None:
            ahead.compilation = compilation
        return compilation

    def _begin(self, now: dynamo.Compilation, function: str | None) -> Compilation:
        """Adds the compilation that Dynamo is working on to the `prepare_debug` block, and returns it."""
        compilation = Compilation(Frame(now.compile_id, function or "?"), attempt=now.attempt)
        call = at_work.call()
        if call is not None:
            compilation.set_original(call.code)
            outcomes.describe(compilation.frame, call.code, call)
            self._name_as_its_beginning(compilation, call)
        self._by_key.set(now.key, compilation)
        self.add(compilation)
        return compilation

    def add(self, compilation: Compilation) -> None:
        """Adds a compilation to the `prepare_debug` block and to the block's session, and has the compilation written
        to the journal."""
        self.order.append(compilation)
        self._session.frames.append(compilation.frame)
        self.touch(compilation)

    def next_id(self, prefix: str) -> str:
        """Returns a new id that consists of `prefix` and a number, for a compilation to which PyTorch assigns no id."""
        return f"{prefix}{sum(known.frame.compile_id.startswith(prefix) for known in self.order)}"

    def touch(self, compilation: Compilation) -> None:
        """Records that a compilation may have changed since it was last written to the journal."""
        self._touched[id(compilation)] = compilation

    def take_touched(self) -> list[Compilation]:
        """Returns the compilations that may have changed since the last call of `take_touched`."""
        touched = [*self._touched.values()]
        self._touched.clear()
        return touched

    # If a function is compiled ahead of time, the work after the capture of the graph has no compile id in PyTorch. The
    # following methods assign the work after the capture of a graph to the compilation that captured the graph.

    def begin_ahead(self) -> None:
        """Records that the calling thread begins to compile a function ahead of time."""
        self._of_thread.ahead = _AheadOfTime()

    def begin_loading(self) -> None:
        """Records that the calling thread begins to load a function from a file. The compilation gets an id from depyf,
        because PyTorch assigns no id to it."""
        compilation = Compilation(Frame(self.next_id(LOADED), "?"))
        compilation.restored = True
        self._of_thread.ahead = _AheadOfTime(compilation)

    def begin_precompiling(self, name: str, code: types.CodeType | None) -> None:
        """Records that the calling thread begins to capture a function with `torch.compiler.precompile`. The
        compilation gets an id from depyf, because PyTorch assigns no id to it."""
        compilation = Compilation(Frame(self.next_id(PRECOMPILED), name))
        if code is not None:
            compilation.set_original(code)
            outcomes.describe(compilation.frame, code)
        self.add(compilation)
        self._of_thread.ahead = _AheadOfTime(compilation)

    def end_ahead(self) -> Compilation | None:
        """Ends the compilation ahead of time, or the loading, that the calling thread began. Returns the compilation of
        the function that was compiled or loaded; None if no graph was captured."""
        ahead: _AheadOfTime | None = getattr(self._of_thread, "ahead", None)
        self._of_thread.ahead = None
        return None if ahead is None else ahead.compilation

    # The following methods concern resume functions.

    def link_resume_names(self) -> None:
        """For each compilation of a resume function, stores in its frame the global names under which transformed code
        calls the resume function."""
        for compilation in link_resume_names(self.order):
            self._touched[id(compilation)] = compilation

    def _name_as_its_beginning(self, compilation: Compilation, call: at_work.Call) -> None:
        """Names a resume function after the function that it continues, if the continued function was compiled in the
        `prepare_debug` block."""
        if not compilation.frame.is_resume:
            return
        for beginning in reversed(self.order):
            leads_here = compilation.number_of_original in beginning.resumes.values()
            if leads_here and outcomes.goes_on_with(compilation.frame, beginning.frame):
                compilation.frame.name = function_names.of_resumed(
                    compilation.frame.name, beginning.frame.name, call.code, call.local
                )
                return

    def users_line(self, line: Line) -> Line | None:
        """If `line` is in dumped transformed code, returns the user's line of the last graph break in the compilation
        of the transformed code. Returns None if the user's line is unknown, or if `line` is in a file of any other
        kind."""
        file = running.known.get(line.file)
        if file is None or file.kind != "transformed code":
            return None
        frames = [compile.frame for compile in self.order if compile.frame.compile_id == file.compile_id]
        places = (
            [graph_break.line for graph_break in frames[-1].breaks if graph_break.line is not None] if frames else []
        )
        return places[-1] if places else None

    def _drop_items(self, compilation: Compilation) -> None:
        """Discards the artifacts of an attempt at a compilation that Dynamo has abandoned."""
        for item in compilation.items:
            self._artifacts.unwrite(compilation, item)
        compilation.items.clear()
        compilation.number = compilation.frame.compiled_fn = None
        compilation.frame.runtime_values, compilation.frame.runtime_asserts = [], []
