"""Receives the calls of the hooks in PyTorch for one `prepare_debug` block, and passes each call to the module of
`depyf.capture` that handles it. Only one call is handled at a time."""

from __future__ import annotations

import functools
import os
import platform
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from depyf import _core, function_names, locks, weak
from depyf.capture import conditions, memory
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilations import Compilations
from depyf.capture.ending import Ending
from depyf.capture.failures import Failures
from depyf.capture.guarding import Guarding
from depyf.capture.inductor_events import InductorEvents
from depyf.capture.items import Items
from depyf.capture.journaling import Journaling
from depyf.capture.shown_graphs import ShownGraphs
from depyf.capture.trace_records import TraceRecords
from depyf.capture.transformed_code import TransformedCode
from depyf.compat import ahead, at_work, callables, trace
from depyf.session import PhaseEvent, Session

PHASE_EVENTS_MAX = 100_000
"""The largest number of events of PyTorch's timeline that a session keeps. The page of a report draws as many
events."""

Event = TypeVar("Event", bound=Callable[..., Any])


def _event(method: Event) -> Event:
    """Decorates each method of `Recorder` that a hook in PyTorch calls. A call after the end of the `prepare_debug`
    block, which another thread can make, does nothing, because it is too late for the index. After every call within
    the `prepare_debug` block, the recorded data that has changed is written to the journal."""

    @functools.wraps(method)
    def handler(self: Recorder, *args: Any) -> Any:
        with self._lock:
            if self._closed:
                return None
            # Writing a file can make PyTorch call further hooks within the call of a hook; the journal is written only
            # after the outermost call.
            is_outermost = not getattr(self._at_work, "event", False)
            self._at_work.event = True
            try:
                return method(self, *args)
            finally:
                if is_outermost:
                    self._at_work.event = False
                    self._note()

    return cast(Event, handler)


def _working_directory() -> str:
    """Returns the program's working directory; an empty string if the directory was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


class Recorder:
    """Receives the calls of the hooks in PyTorch for one `prepare_debug` block. The class is thread safe. The module
    `hub` catches exceptions that the methods of a `Recorder` raise, and passes the exceptions to `failed`.

    Args:
        directory: the directory of the dump.
        functions: weak references to the code objects of the functions that were passed to `prepare_debug`.
        run: the number that distinguishes this run of the program from the other runs in the directory; 0 if it is
            unknown.
        reports_earlier: true if compilations from before the block are reported; false if the block records a whole
            process.
        measures_guards: true if the time that a check of each compilation's guards takes is to be measured.
    """

    def __init__(
        self,
        directory: Path,
        functions: tuple[weak.Reference, ...] = (),
        *,
        run: int = 0,
        reports_earlier: bool = True,
        measures_guards: bool = False,
    ) -> None:
        import torch

        self.directory = directory
        self.session = Session(
            str(directory),
            torch_version=str(torch.__version__),
            python_version=platform.python_version(),
            working_directory=_working_directory(),
            run=run,
        )
        memory.opened(self.session)
        self._lock = locks.Lock()
        self._closed = False
        self._at_work = threading.local()
        self._failures = Failures(self.session)
        self._guarding = Guarding(measures=measures_guards)
        artifacts = Artifacts(directory)
        self._compilations = Compilations(self.session, artifacts)
        items = Items(self.session, artifacts)
        self._transformed = TransformedCode(
            self.session, self._compilations, items, artifacts=artifacts, guarding=self._guarding
        )
        self._records = TraceRecords(self.session, self._compilations, items, self._guarding)
        self._shown = ShownGraphs(self._compilations, items, artifacts)
        self._inductor = InductorEvents(self._compilations, items, artifacts)
        self._journaling = Journaling(directory, self.session, self._compilations.order)
        self._ending = Ending(
            self.session,
            self._compilations,
            artifacts,
            journaling=self._journaling,
            functions=functions,
            reports_earlier=reports_earlier,
        )

    @_event
    def transformed(self, original: types.CodeType, code: types.CodeType) -> types.CodeType | None:
        """Is called when Dynamo has generated `code` to run in place of `original`. Returns equivalent code that was
        compiled from the dumped file, and that Dynamo shall use in place of `code`; returns None if `code` itself shall
        run."""
        return self._transformed.add(original, code)

    @_event
    def began_ahead(self, step: ahead.Step, function: Any = None) -> None:
        """Is called before a function is compiled ahead of time, loaded from a file, or captured by
        `torch.compiler.precompile`; `function` is passed only in the case of `torch.compiler.precompile`."""
        if step == "compile":
            self._compilations.begin_ahead()
        elif step == "load":
            self._compilations.begin_loading()
        else:
            call = callables.bound_call(function)
            self._compilations.begin_precompiling(
                function_names.of_callable(function) or "?", getattr(call or function, "__code__", None)
            )

    @_event
    def ended_ahead(self, step: ahead.Step, result: Any, succeeded: bool = True) -> None:
        """Is called after the step that `began_ahead` announced. `result` is the function that was compiled ahead of
        time or loaded from a file, or the graph that `torch.compiler.precompile` captured; None if the step failed.
        `succeeded` is true if `torch.compiler.precompile` also compiled the captured graph; for all other steps it has
        no meaning."""
        if step == "compile":
            self._transformed.end_ahead(result)
        elif step == "load":
            self._transformed.end_loading(result)
        else:
            self._records.end_precompiling(result, succeeded)

    @_event
    def restored(self, original: types.CodeType, manager: Any, code: types.CodeType) -> None:
        """Is called with each entry that PyTorch restores from Dynamo's cache of an earlier process."""
        self._transformed.add_restored(original, manager, code)

    @_event
    def traced(self, record: trace.Record) -> None:
        """Is called for each record of the structured trace."""
        self._inductor.end_fusion()
        self._records.take(record)

    def timed(self, events: list[PhaseEvent]) -> None:
        """Is called with events of PyTorch's timeline (the phases of a compilation, with their times). The journal does
        not contain the timeline."""
        recorded = self.session.phase_events
        if not self._closed:
            recorded += events[: max(0, PHASE_EVENTS_MAX - len(recorded))]

    @_event
    def scheduled(self, kind: str, text: str) -> None:
        """Is called with Inductor's IR before or after fusion. If Inductor compiles in another process, also called
        with a graph that the other process sent."""
        self._inductor.add_ir(kind, text)

    def not_fused(self, first: str, second: str, reason: str) -> None:
        """Is called when Inductor does not fuse two operations of its IR. Reasons against fusion are not written to the
        journal."""
        with self._lock:
            if not self._closed:
                self._inductor.add_not_fused(first, second, reason)

    @_event
    def guarded(self, manager: Any, local: dict[str, Any], builder: Any) -> None:
        """Is called when the guards of a compilation have been built."""
        compilation = self._compilations.current()
        function = None if compilation is None else compilation.function()
        if compilation is None or function is None:
            return
        guarded = self._guarding.made(function, manager, local, builder)
        if guarded is not None:
            conditions.record(compilation, guarded)
        compilation.frame.guard_time = self._guarding.time(manager, local)
        compilation.frame.unchecked = _core.unchecked_after_dropping(at_work.dropped_guards())

    @_event
    def named_graph(self, name: str, graph: Any, caller: str) -> None:
        """Is called with each graph that the module `caller` passes to PyTorch's `lazy_format_graph_code` under a
        name."""
        self._shown.take(name, graph, caller)

    @_event
    def recompiled(self, graph: Any) -> None:
        """Is called when PyTorch has recompiled the function of a graph module, which may be a graph module that was
        dumped, or a copy of a dumped graph module."""
        self._shown.take_again(graph)

    @_event
    def loaded(self, path: str, module: types.ModuleType) -> None:
        """Is called when Inductor has loaded output code."""
        self._inductor.add_loaded(path, module)

    def failed(self, error: Exception) -> None:
        """Is called with an exception that a hook of depyf raised. The user is warned once about failures within depyf,
        and the program continues."""
        with self._lock:
            self._failures.add(error)
            self._note()

    def _note(self) -> None:
        """Writes to the journal the recorded data that has changed since the last call of `_note`."""
        if not self._closed:
            self._journaling.note(self._compilations.take_touched())

    def finish(self) -> None:
        """Writes the files that can only be written at the end of the `prepare_debug` block. Never raises an exception,
        unless the user interrupts the program."""
        trace.flush()
        with self._lock:
            if self._closed:
                return
            self._note()
            self._closed = True
            for step in (*self._ending.steps(self._transformed.seen, self._failures), self._guarding.close):
                try:
                    step()
                except Exception as error:
                    self._failures.add(error)
                except BaseException:  # The missing files can be rebuilt from the journal.
                    self._journaling.close()
                    raise
            self._journaling.close()
