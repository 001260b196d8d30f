"""From events to the session and its files: what belongs to which compilation, and under which number."""

from __future__ import annotations

import functools
import os
import platform
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from depyf import dump, files, function_names, locks, names, report, running, source_line, weak
from depyf.capture import before, graph_texts, hub, memory, outcomes, story
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation, Item, link_resume_names
from depyf.capture.guarding import Guarding
from depyf.capture.journaling import Journaling
from depyf.compat import (
    ahead,
    at_work,
    compiled,
    dynamo,
    fx_nodes,
    graphs,
    inductor,
    live_graphs,
    noticing,
    origins,
    probe,
    runtime_asserts,
    trace,
)
from depyf.guards import breaks, texts
from depyf.guards.terms import in_terms
from depyf.provenance import collect, dumped
from depyf.session import Frame, PhaseEvent, RuntimeValue, Session, Symbol
from depyf.source_line import Line

_DIRECTIONS = {"Joint_graph": "joint", "Forward_graph": "forward", "Backward_graph": "backward"}
_SHOWN_AS = {"Forward graph": "Forward_graph", "Backward graph": "Backward_graph"}
# Graphs that PyTorch shows by name. Their texts come from there if this PyTorch has no structured trace.
_SHOWN = {**_SHOWN_AS, "Joint graph": "Joint_graph", "AFTER POST GRAD": "AFTER_POST_GRAD"}
PHASE_EVENTS_MAX = 100_000
"""Events of PyTorch's timeline that a session keeps: as many as the page of a report draws."""
_OF_DUMPS = ("capture", "trace", "running", "inductor", "provenance", "guards", "reasons")


Event = TypeVar("Event", bound=Callable[..., Any])


def _noted(event: Event) -> Event:
    """Makes the journal record the changes that a method of the recorder, called for an event, has caused."""

    @functools.wraps(event)
    def handler(self: Recorder, *args: Any) -> Any:
        # Writing a file can lead to other events, which are part of this one.
        is_outermost = not getattr(self._at_work, "event", False)
        self._at_work.event = True
        try:
            return event(self, *args)
        finally:
            if is_outermost:
                self._at_work.event = False
                self._note()

    return cast(Event, handler)


def _working_directory() -> str:
    """Returns the program's working directory; "" if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


@dataclass
class AheadOfTime:
    """What a thread is compiling ahead of time."""

    compile: Compilation | None = None
    """The compilation in which its graph was captured; None as long as there is none."""


class Recorder:
    """Receives the events of one block. It is thread safe. The hub catches what it raises, and warns once."""

    def __init__(self, directory: Path, functions: tuple[weak.Reference, ...] = ()) -> None:
        import torch

        self.directory = directory
        self.session = Session(
            str(directory),
            torch_version=str(torch.__version__),
            python_version=platform.python_version(),
            working_directory=_working_directory(),
        )
        memory.opened(self.session)
        self._functions = functions
        self._lock = locks.Lock()
        self._compiles: weak.Table[Compilation] = weak.Table()  # by PyTorch's object for the compilation
        self._order: list[Compilation] = []
        self._artifacts = Artifacts(directory)
        self._fusing: dict[int, collect.Direction] = {}  # by thread, since the IR was told of last
        self._seen_codes: weak.Table[bool] = weak.Table()
        self._guarding = Guarding()
        self._provenance: list[dict[str, Any]] = []
        self._tables: list[tuple[str, int]] = []
        self._told = False
        self._closed = False
        self._has_trace = trace.has_records()
        self._before: weak.Table[bool] = weak.Table()
        for code in dynamo.compiled_codes():
            self._before.set(code, True)
        self._at_work = threading.local()
        self._touched: dict[int, Compilation] = {}  # by id, since the journal noted something last
        self._journaling = Journaling(directory, self.session, self._order)

    # Events. Another thread's may still come when the block has ended: they are too late for its index.

    @_noted
    def transformed(self, original: types.CodeType, code: types.CodeType) -> types.CodeType | None:
        """Is called when Dynamo has generated `code` to run in place of `original`. Returns the same code compiled
        from a file if that is to run."""
        with self._lock:
            if self._closed:
                return None
            compile = self._current(original.co_name)
            if compile is None:
                return None
            replacement = self._transform(compile, original, code, may_run=hub.substitutes(self.directory))
            self._artifacts.tie(compile, replacement or code)
            return replacement

    def _transform(
        self, compile: Compilation, original: types.CodeType, code: types.CodeType, *, may_run: bool
    ) -> types.CodeType | None:
        """Writes transformed code. Returns the same code compiled from the file if that is to run."""
        frame = compile.frame
        compile.set_original(original)
        compile.transformed = weak.reference(code)
        memory.remember(code, self.session, frame)
        self._seen_codes.set(code, True)
        frame.status = "compiled"
        outcomes.describe(frame, original)
        self._name_resume_functions(compile, original, code)
        called = [
            n
            for nested in names.nested_codes(code)
            for name in nested.co_names
            if (n := names.compiled_fn_number(name)) is not None
        ]
        if called:
            self._set_number(compile, called[0] if compile.number not in called else compile.number)
        replacement = self._artifacts.write_transformed(compile, code, may_run=may_run)
        if replacement is not None:
            compile.transformed = weak.reference(replacement)
            self._seen_codes.set(replacement, True)
            memory.remember(replacement, self.session, frame)
        return replacement

    @_noted
    def began_ahead(self) -> None:
        """Is called when a function is going to be compiled ahead of time: what comes behind the capture of its graph has no
        compile id, and belongs to it all the same."""
        self._at_work.ahead = AheadOfTime()

    @_noted
    def ended_ahead(self, made: ahead.Compiled | None) -> None:
        """Is called with what was compiled ahead of time; with None where that failed."""
        began: AheadOfTime | None = getattr(self._at_work, "ahead", None)
        self._at_work.ahead = None
        compile = None if began is None else began.compile
        if compile is None or made is None or made.original is None:
            return
        with self._lock:
            if self._closed:
                return
            self._touched[id(compile)] = compile
            self._transform(compile, made.original, made.code, may_run=False)
            compile.frame.notes = [outcomes.COMPILED_AHEAD]
            compile.frame.guards = compile.frame.guards or texts.tree(dynamo.guards_text(made.guard_manager))
            seen = memory.of(made.code)
            if seen is not None and compile.guarded is not None:
                seen.line_of = compile.guarded.origins.line_of

    @_noted
    def loaded_ahead(self, made: ahead.Compiled) -> None:
        """Is called with each function that is loaded from a file of what was compiled ahead of time."""
        original = made.original
        with self._lock:
            if self._closed or original is None:
                return
            number = sum(compile.frame.compile_id.startswith("ahead/") for compile in self._order)
            place = original.co_name, original.co_filename, original.co_firstlineno
            frame = Frame(f"ahead/{number}", *place, "compiled before")
            frame.name = function_names.of_code(original)
            frame.guards = texts.tree(dynamo.guards_text(made.guard_manager))
            frame.notes = [outcomes.LOADED_AHEAD.format(what=frame.title)]
            compile = Compilation(frame)
            compile.set_original(original)
            compile.guarded = self._guarding.loaded(made.guard_manager)
            frame.frontier = [] if compile.guarded is None else compile.guarded.frontier
            self._touched[id(compile)] = compile
            self.session.frames.append(frame)
            self.session.notes += frame.notes
            self._order.append(compile)
            memory.remember(made.code, self.session, frame)
            self._seen_codes.set(made.code, True)
            self._artifacts.write_transformed(compile, made.code, may_run=False)

    @_noted
    def traced(self, record: trace.Record) -> None:
        """Is called for each record of the structured trace."""
        with self._lock:
            if self._closed:
                return
            self._fusing.pop(threading.get_ident(), None)
            if record.graph is not None:
                compile = self._current()
                graph = compile.graphs.pop(record.graph, weak.NOTHING) if compile is not None else weak.NOTHING
                direction = _DIRECTIONS.get(record.graph) or graphs.direction()
                text = record.text
                if compile is not None:
                    text = graph_texts.readable(record.graph, direction, text, compile.seen)
                self._add(Item(record.graph, text, direction, ".py", graph=graph), compile)
            elif record.event == "kernel":
                direction = record.direction or graphs.direction()
                compile = self._current()
                if compile is not None and any(item.path == record.path is not None for item in compile.items):
                    return  # it was loaded before
                if compile is not None and direction is not None:
                    self._directed(compile, direction)
                self._add(Item("kernel", record.text, direction, ".py", path=record.path), compile)
                if compile is not None:
                    compile.seen.direction(direction).code = record.text
            elif record.event == "export":
                self._exported(record)
            else:
                compile = self._current()
                if compile is not None:
                    self._told_about(compile, record)

    def timed(self, event: PhaseEvent) -> None:
        """Is called for each event of PyTorch's timeline: hundreds in a compilation, so that nothing else is done."""
        events = self.session.phase_events
        if not self._closed and len(events) < PHASE_EVENTS_MAX:
            events.append(event)

    @_noted
    def scheduled(self, kind: str, text: str) -> None:
        """Is called with Inductor's IR before or after fusion, or with a graph from the other process in which
        Inductor compiles."""
        with self._lock:
            if self._closed:
                return
            compile, direction = self._current(), graphs.direction()
            self._add(Item(kind, text, direction, ".txt" if kind.startswith("ir_") else ".py"), compile)
            if compile is not None and inductor.elsewhere():
                compile.elsewhere = True
            elif compile is not None:
                seen = compile.seen.direction(direction)
                seen.operations = inductor.operations()
                self._fusing[threading.get_ident()] = seen

    def not_fused(self, first: str, second: str, reason: str) -> None:
        """Is called when Inductor does not fuse two operations of its IR."""
        with self._lock:
            if self._closed:
                return
            seen = self._fusing.get(threading.get_ident())
            if seen is None and (compile := self._current()) is not None:
                seen = compile.seen.direction(graphs.direction())
            if seen is not None:
                seen.not_fused[first, second] = reason

    @_noted
    def guarded(self, manager: Any, local: dict[str, Any], builder: Any) -> None:
        """Is called when the guards of a compilation have been built."""
        with self._lock:
            if self._closed:
                return
            compile = self._current()
            function = None if compile is None else compile.function()
            guarded = None if function is None else self._guarding.made(function, manager, local, builder)
            if compile is None or guarded is None:
                return
            compile.guarded = guarded
            transformed = compile.transformed()
            seen = None if transformed is None else memory.of(transformed)
            if seen is not None:
                seen.line_of = guarded.origins.line_of
            compile.frame.frontier = guarded.frontier
            compile.frame.symbols = [_in_terms(_with_reason(symbol, compile.specialized)) for symbol in guarded.symbols]
            ranges = guarded.origins.ranges
            compile.frame.runtime_values = [
                replace(value, range=ranges.get(value.name, value.range)) for value in compile.frame.runtime_values
            ]

    @_noted
    def named_graph(self, name: str, graph: Any, caller: str) -> None:
        """Is called with each graph that PyTorch shows under a name."""
        number = names.compiled_fn_number(name)
        if number is not None:
            with self._lock:
                if self._closed:
                    return
                compile = self._current()
                if compile is not None:
                    compile.graphs["Captured_Graph"] = weak.reference(graph)
                    backend = compiled.backend_name(dynamo.backend_at_work())
                    compile.by_inductor, compile.by_aot = backend == "inductor", backend.startswith("aot_")
                    compile.seen.captured, compile.seen.graph = fx_nodes.rows(graph), fx_nodes.identity(graph)
                    compile.seen.has_modules = any([row.modules for row in compile.seen.captured])
                    if compile.by_inductor or compile.by_aot:
                        compile.seen.inputs = live_graphs.inputs(graph)
                    compile.frame.runtime_asserts = runtime_asserts.read(graph)
                    self._set_number(compile, number)
                    self._show(compile, "Captured_Graph", graph)
        elif caller.partition(".")[0] == "torch" and (name in _SHOWN_AS or name.lower() in collect.NAMES):
            with self._lock:
                compile = None if self._closed else self._current()
                if compile is not None:
                    compile.seen.add_graph(name, graphs.direction(), fx_nodes.rows(graph))
                    if name in _SHOWN_AS:
                        compile.graphs[_SHOWN_AS[name]] = weak.reference(graph)
                    self._show(compile, _SHOWN.get(name), graph)
        elif caller.partition(".")[0] != "torch":  # torch's own come by the trace, with their compile id
            text = graphs.text(graph)
            with self._lock:
                if self._closed:
                    return
                self._add(Item(names.safe_file_part(name), text, graphs.direction(), ".py"), self._current())

    def _show(self, compile: Compilation, kind: str | None, graph: Any) -> None:
        """Adds a graph for which no record of the structured trace will come."""
        if self._has_trace or kind is None:
            return
        if kind == "Captured_Graph":
            for item in compile.items:
                if item.kind == kind:
                    return
        text = graphs.text(graph)
        if text:
            text = graph_texts.readable(kind, _DIRECTIONS.get(kind) or graphs.direction(), text, compile.seen)
            runs = compile.graphs.pop(kind, weak.NOTHING)
            self._add(Item(kind, text, _DIRECTIONS.get(kind) or graphs.direction(), ".py", graph=runs), compile)

    @_noted
    def recompiled(self, graph: Any) -> None:
        """Is called when PyTorch has compiled the function of a graph module again: of a module that was dumped, or
        of a copy of one."""
        with self._lock:
            if not self._closed:
                self._artifacts.recompiled(graph, self._current)

    @_noted
    def loaded(self, path: str, module: types.ModuleType) -> None:
        """Is called when Inductor has loaded output code."""
        with self._lock:
            if self._closed:
                return
            is_announced = self._has_trace and not inductor.elsewhere()
            if not is_announced and not self._artifacts.knows(path) and hasattr(module, "call"):
                compile = self._current()
                if compile is not None:
                    text = Path(path).read_text(encoding="utf-8")
                    self._add(Item("kernel", text, graphs.direction(), ".py", path=path), compile)
                    compile.seen.direction(graphs.direction()).code = text
            self._artifacts.loaded(path, module)

    @_noted
    def failed(self, error: Exception) -> None:
        """Is called when a hook of depyf raised. The user is warned once, and the program goes on."""
        with self._lock:
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = f" ({Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno})" if place is not None else ""
            note = f"depyf failed, and the dump is incomplete: {type(error).__name__}: {error}{where}"
            if note not in self.session.notes:
                self.session.notes.append(note)
            was_told, self._told = self._told, True
        if not was_told:
            report.warn(note)

    def _note(self) -> None:
        with self._lock:
            if not self._closed:
                touched, self._touched = self._touched, {}
                self._journaling.note(touched.values())

    # The end

    def finish(self) -> None:
        """Writes what can only be written at the end. Never raises."""
        with self._lock:
            if self._closed:
                return
            self._note()
            self._closed = True
            for step in (
                self._flush,
                self._add_features,
                self._add_compiled_before,
                self._add_missing,
                self._write_provenance,
                self._write_full_code,
                self._write_index,
                self._guarding.close,
            ):
                try:
                    step()
                except Exception as error:
                    self.failed(error)
                except BaseException:  # an interrupt: what is missing then can be rebuilt
                    self._journaling.close()
                    raise
            self._journaling.close()

    def _flush(self) -> None:
        for compile in self._order:
            self._artifacts.write(compile, last=True)
            if compile.frame.status == "not compiled" and not compile.ended and not compile.frame.notes:
                compile.frame.error = dump.UNFINISHED

    def _add_compiled_before(self) -> None:
        before.add(self._before, self._functions, self._order, self._seen_codes, self.session, self._artifacts)
        self._link_resume_names()

    def _write_full_code(self) -> None:
        story.write(self._order, self.session, self._artifacts)

    def _add_features(self) -> None:
        """Adds the state of each feature, and warns of features that should work and do not."""
        if not self._told:  # what failed here may have kept away what PyTorch told
            # Dynamo begins and ends no compilation for what it captures ahead of time.
            noticing.notice([each for each in self._order if outcomes.COMPILED_AHEAD not in each.frame.notes])
        self.session.features = probe.features(right=probe.tell_losses())
        self.session.notes += [
            f"{feature.feature}: {feature.status}: {why}"
            for feature in self.session.features
            if feature.key in _OF_DUMPS
            for why in feature.why
        ]

    def _add_missing(self) -> None:
        for compile in self._order:
            compile.frame.missing = dump.missing_artifacts(compile.frame, compile.cached, compile.elsewhere)

    def _write_provenance(self) -> None:
        self._provenance = []
        tables: dict[int, tuple[str, int]] = {}
        for compile in self._order:
            written = dumped.write(self.directory, compile.frame, compile.seen)
            if written is not None:
                self._provenance.append(written.data)
            operators = len(compile.seen.captured) or -1
            tables[id(compile.frame)] = ("" if written is None else written.tables, operators)
        self._tables = [tables.get(id(frame), ("", -1)) for frame in self.session.frames]

    def _write_index(self) -> None:
        with files.locked(self.directory):
            dump.write_record(self.directory, [self.session], self._provenance, self._tables)
            # From here on the session tells all that the journal does.
            self._journaling.fold()

    # Compilations

    def _current(self, function: str | None = None) -> Compilation | None:
        """Returns the compilation that this thread is at, and drops what an earlier attempt left behind."""
        now = dynamo.current()
        at_work_ahead: AheadOfTime | None = getattr(self._at_work, "ahead", None)
        if now is None:
            if at_work_ahead is not None and at_work_ahead.compile is not None:
                self._touched[id(at_work_ahead.compile)] = at_work_ahead.compile
            return None if at_work_ahead is None else at_work_ahead.compile
        compile = self._compiles.get(now.key)
        if compile is None:
            compile = Compilation(Frame(now.compile_id, function or "?"), attempt=now.attempt)
            call = at_work.call()
            if call is not None:
                compile.set_original(call.code)
                outcomes.describe(compile.frame, call.code, call)
                self._name_as_its_beginning(compile, call)
            self._compiles.set(now.key, compile)
            self._order.append(compile)
            self.session.frames.append(compile.frame)
        if now.attempt > compile.attempt:
            self._drop_artifacts(compile)
            compile.attempt = compile.frame.attempt = now.attempt
        self._touched[id(compile)] = compile
        if at_work_ahead is not None:
            at_work_ahead.compile = compile
        return compile

    def _told_about(self, compile: Compilation, record: trace.Record) -> None:
        frame = compile.frame
        if record.event == "start":
            compile.started = True
            if frame.function == "?":
                frame.function, frame.line = record.function or "?", record.line or 0
        elif record.event == "end":
            frame.filename = frame.filename or record.filename or ""
            frame.line = record.line or frame.line
            compile.ended = True
            frame.seconds = record.seconds
            if record.error:
                frame.error = names.shorten(record.error)
                number = compile.number_of_original
                compiled_before = [
                    compilation.frame for compilation in self._order if compilation.number_of_original == number
                ]
                outcomes.add_failure(frame, compile.function(), compiled_before, self._users_line)
            self._artifacts.write(compile, last=True)
            compile.settle()
        elif record.event == "guards":
            frame.guards = texts.tree(record.text)
        elif record.event == "graph break":
            reason = texts.break_reason(record.text)
            if reason not in frame.graph_breaks:
                frame.graph_breaks.append(reason)
                own = outcomes.place_of(frame)
                frame.breaks.append(breaks.read(record.text, origins.library(), own, self._users_line))
        elif record.event == "recompile reasons":
            frame.recompile_reasons = texts.recompile_reasons(record.text)
            frame.failures = self._guarding.failures(frame.recompile_reasons)
        elif record.event == "specialization":
            line = source_line.users(record.stack, origins.library())
            compile.specialized.append(
                Symbol(record.symbol, [], value=record.value, specialized_by=line, reason=record.text)
            )
        elif record.event == "runtime value":
            line = source_line.users(record.stack, origins.library())
            others = [value for value in frame.runtime_values if value.name != record.symbol]
            frame.runtime_values = [*others, RuntimeValue(record.symbol, record.value, line)]
        elif record.event == "cache hit":
            compile.cached.add(graphs.direction())

    def _exported(self, record: trace.Record) -> None:
        """Says that a call of `torch.export` is not shown."""
        place = f" at {record.stack[0].name}:{record.stack[0].line}" if record.stack else ""
        note = outcomes.EXPORT.format(what=record.function or "...", place=place)
        if note not in self.session.notes:
            self.session.notes.append(note)

    def _set_number(self, compile: Compilation, number: int) -> None:
        if compile.number != number:
            if compile.number is not None:
                # The code calls another function than the announced one, so the name that was written is wrong.
                for item in compile.items:
                    self._artifacts.unwrite(compile, item)
            compile.number = compile.frame.compiled_fn = number
        self._artifacts.write(compile)

    def _name_resume_functions(self, compile: Compilation, original: types.CodeType, code: types.CodeType) -> None:
        table = dynamo.globals_being_compiled() or {}
        for nested in names.nested_codes(code):
            for name in nested.co_names:
                if dynamo.is_resume_name(name):
                    compile.add_resume(name, dynamo.resume_code(table.get(name)), original)
        self._link_resume_names()

    def _link_resume_names(self) -> None:
        for compile in link_resume_names(self._order):
            self._touched[id(compile)] = compile

    def _name_as_its_beginning(self, compile: Compilation, call: at_work.Call) -> None:
        """Names a resume function as the function is named that it goes on with, where a block saw that compiled."""
        if not compile.frame.is_resume:
            return
        for beginning in reversed(self._order):
            leads_here = compile.number_of_original in beginning.resumes.values()
            if leads_here and outcomes.goes_on_with(compile.frame, beginning.frame):
                compile.frame.name = function_names.of_resumed(
                    compile.frame.name, beginning.frame.name, call.code, call.local
                )
                return

    def _users_line(self, line: Line) -> Line | None:
        """Returns the line of the last graph break of a compilation, given a line of its dumped transformed code;
        None for other lines."""
        file = running.known.get(line.file)
        if file is None or file.kind != "transformed code":
            return None
        frames = [compile.frame for compile in self._order if compile.frame.compile_id == file.compile_id]
        places = (
            [graph_break.line for graph_break in frames[-1].breaks if graph_break.line is not None] if frames else []
        )
        return places[-1] if places else None

    # Artifacts

    def _add(self, item: Item, compile: Compilation | None) -> None:
        if compile is None:
            self.session.other_artifacts.append(self._artifacts.write_alone(item))
            return
        compile.items.append(item)
        if compile.number is not None:
            self._artifacts.write(compile)

    def _directed(self, compile: Compilation, direction: str) -> None:
        """Gives a direction to the graph that a cache announces right before output code, and that has none of its
        own."""
        item = compile.items[-1] if compile.items else None
        if item is not None and item.kind == "AFTER_POST_GRAD" and item.direction is None:
            self._artifacts.unwrite(compile, item)
            item.direction = direction

    def _drop_artifacts(self, compile: Compilation) -> None:
        """Drops the items of an attempt that Dynamo has given up."""
        for item in compile.items:
            self._artifacts.unwrite(compile, item)
        compile.items.clear()
        compile.number = compile.frame.compiled_fn = None
        compile.frame.runtime_values, compile.frame.runtime_asserts = [], []


def _with_reason(symbol: Symbol, specialized: list[Symbol]) -> Symbol:
    """Returns a symbol with the reason why it was specialised, if it was."""
    for constant in specialized:
        if constant.name == symbol.name:
            return replace(symbol, value=constant.value, specialized_by=constant.specialized_by, reason=constant.reason)
    return symbol


def _in_terms(symbol: Symbol) -> Symbol:
    return replace(symbol, terms=[in_terms(source) for source in symbol.sources])
