"""From events to the session and its files: what belongs to which compilation, and under which number."""

from __future__ import annotations

import platform
import threading
import types
import weakref
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from depyf import decompilation, decompiler, dump, files, names, report, running, source_line
from depyf.capture import hub, memory, substitution
from depyf.capture.guarding import Guarded, Guarding
from depyf.compat import dynamo, fx_nodes, graphs, inductor, origins, probe, trace
from depyf.guards import breaks, texts
from depyf.provenance import annotate, collect, dumped
from depyf.provenance.collect import Collected
from depyf.session import Artifact, Frame, Session, Symbol

_DIRECTIONS = {"Joint_graph": "joint", "Forward_graph": "forward", "Backward_graph": "backward"}
_SHOWN_AS = {"Forward graph": "Forward_graph", "Backward graph": "Backward_graph"}
_CAN_RUN = ("Captured_Graph", "Forward_graph", "Backward_graph", "kernel")
_OF_DUMPS = ("capture", "trace", "running", "inductor", "provenance", "guards", "reasons")
_OTHER_DUMP = "the files of another block, which was entered before, do"


@dataclass(eq=False)
class _Item:
    """An artifact on its way: its text is kept until the compilation's number is known for certain."""

    kind: str
    text: str
    direction: str | None
    suffix: str
    graph: Any = None
    """The graph module, if it can be what runs."""
    path: str | None = None
    """Of a kernel: Inductor's own file."""
    artifact: Artifact | None = None
    created: bool = False
    swap: running.Swap | None = None
    modules: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)
    """The graph module and its copies."""
    nodes: tuple[str, ...] = ()


@dataclass
class _Compile:
    """One compilation, as far as it has come."""

    frame: Frame
    attempt: int = 0
    number: int | None = None
    items: list[_Item] = field(default_factory=list)
    original: types.CodeType | None = None
    transformed: types.CodeType | None = None
    resumes: dict[str, types.CodeType | None] = field(default_factory=dict)
    graphs: dict[str, Any] = field(default_factory=dict)
    """Kind -> the graph module that was shown last, whose text comes next."""
    cache_hit: bool = False
    ended: bool = False
    guarded: Guarded | None = None
    specialized: list[Symbol] = field(default_factory=list)
    seen: Collected = field(default_factory=Collected)


class Recorder:
    """Receives the events of one block. Thread safe; what it raises is caught by the hub and told once."""

    def __init__(self, directory: Path, functions: tuple[Any, ...] = ()) -> None:
        import torch

        self.directory = directory
        self.session = Session(
            str(directory), torch_version=str(torch.__version__), python_version=platform.python_version()
        )
        memory.opened(self.session)
        self._functions = functions
        self._lock = threading.RLock()
        self._compiles: dict[int, tuple[object, _Compile]] = {}
        self._order: list[_Compile] = []
        self._taken: set[str] = set()
        self._resume_names: dict[int, tuple[types.CodeType, str]] = {}
        self._seen_codes: set[int] = set()
        self._guarding = Guarding()
        self._provenance: list[dict[str, Any]] = []
        self._keep: list[types.CodeType] = []
        self._graphs: dict[int, list[_Item]] = {}  # number of nodes -> those that can run
        self._kernels: dict[str, tuple[_Item, substitution.Codes]] = {}
        self._told = False
        self._closed = False
        # By identity: comparing code objects compares their constants, which can be anything.
        self._before = {id(code): code for code in dynamo.compiled_codes()}

    # Events. Another thread's may still come when the block has ended: they are too late for its index.

    def transformed(self, original: types.CodeType, code: types.CodeType) -> types.CodeType | None:
        """Dynamo made `code` to run in place of `original`. Returns the same from a file, if that is to run."""
        with self._lock:
            if self._closed:
                return None
            compile = self._current(original.co_name)
            if compile is None:
                return None
            frame = compile.frame
            compile.original, compile.transformed = original, code
            self._keep += [original, code]
            memory.remember(code, self.session, frame)
            self._seen_codes.add(id(code))
            frame.status = "compiled"
            frame.function, frame.filename, frame.line = original.co_name, original.co_filename, original.co_firstlineno
            frame.is_resume = dynamo.is_resume_code(original)
            self._name_resume_functions(compile, code)
            called = [
                n
                for one in names.nested_codes(code)
                for name in one.co_names
                if (n := names.compiled_fn_number(name)) is not None
            ]
            if called:
                self._set_number(compile, called[0] if compile.number not in called else compile.number)
            replacement = self._write_transformed(frame, code, may_run=hub.substitutes(self.directory))
            if replacement is not None:
                compile.transformed = replacement
                self._keep.append(replacement)
                self._seen_codes.add(id(replacement))
                memory.remember(replacement, self.session, frame)
            return replacement

    def traced(self, record: trace.Record) -> None:
        """A record of the structured trace."""
        with self._lock:
            if self._closed:
                return
            if record.graph is not None:
                compile = self._current()
                graph = compile.graphs.pop(record.graph, None) if compile is not None else None
                direction = _DIRECTIONS.get(record.graph) or graphs.direction()
                self._add(_Item(record.graph, record.text, direction, ".py", graph=graph))
            elif record.event == "kernel":
                direction = graphs.direction() or record.direction
                compile = self._current()
                if compile is not None and direction is not None:
                    self._directed(compile, direction)
                self._add(_Item("kernel", record.text, direction, ".py", path=record.path))
                if compile is not None:
                    compile.seen.direction(direction).code = record.text
            else:
                compile = self._current()
                if compile is not None:
                    self._told_about(compile, record)

    def scheduled(self, kind: str, text: str) -> None:
        """Inductor's IR before or after fusion."""
        with self._lock:
            if self._closed:
                return
            self._add(_Item(kind, text, graphs.direction(), ".txt"))
            compile = self._current()
            if compile is not None:
                compile.seen.direction(graphs.direction()).operations = inductor.operations()

    def not_fused(self, one: str, other: str, reason: str) -> None:
        """Inductor does not fuse two operations of its IR."""
        with self._lock:
            compile = None if self._closed else self._current()
            if compile is not None:
                compile.seen.direction(graphs.direction()).not_fused[one, other] = reason

    def guarded(self, manager: Any, local: dict[str, Any], builder: Any) -> None:
        """The guards of a compilation are made."""
        with self._lock:
            if self._closed:
                return
            compile = self._current()
            guarded = None if compile is None else self._guarding.made(manager, local, builder)
            if compile is None or guarded is None:
                return
            compile.guarded = guarded
            seen = None if compile.transformed is None else memory.of(compile.transformed)
            if seen is not None:
                seen.line_of = guarded.origins.line_of
            compile.frame.frontier = guarded.frontier
            compile.frame.symbols = [_with_reason(one, compile.specialized) for one in guarded.symbols]

    def named_graph(self, name: str, graph: Any, caller: str) -> None:
        """A graph that someone shows under a name."""
        number = names.compiled_fn_number(name)
        if number is not None:
            with self._lock:
                if self._closed:
                    return
                compile = self._current()
                if compile is not None:
                    compile.graphs["Captured_Graph"] = graph
                    compile.seen.captured = fx_nodes.rows(graph)
                    self._set_number(compile, number)
        elif caller.partition(".")[0] == "torch" and (name in _SHOWN_AS or name.lower() in collect.NAMES):
            with self._lock:
                compile = None if self._closed else self._current()
                if compile is not None:
                    compile.seen.add_graph(name, graphs.direction(), fx_nodes.rows(graph))
                    if name in _SHOWN_AS:
                        compile.graphs[_SHOWN_AS[name]] = graph
        elif caller.partition(".")[0] != "torch":  # torch's own come by the trace, with their compile id
            text = graphs.text(graph)
            with self._lock:
                if self._closed:
                    return
                self._add(_Item(names.safe_file_part(name), text, graphs.direction(), ".py"))

    def recompiled(self, graph: Any) -> None:
        """PyTorch has made the function of a graph module anew: of one that was dumped, or of a copy."""
        with self._lock:
            same_size = self._graphs.get(graphs.size(graph)) if self._graphs and not self._closed else None
            if not same_size:
                return
            found = [item for item in same_size if graph in item.modules]
            if not found:
                compile = self._current()
                names_ = graphs.node_names(graph)
                mine = compile.items if compile is not None else []
                found = [item for item in mine if item in same_size and item.nodes == names_]
            for item in found[-1:]:
                item.modules.add(graph)
                artifact = item.artifact
                if artifact is not None and artifact.running:
                    swap, _ = substitution.graph_swap(graph, self._read(artifact.file))
                    if swap is not None:
                        swap.do(str(self.directory / artifact.file))

    def loaded(self, path: str, module: types.ModuleType) -> None:
        """Inductor has loaded output code."""
        with self._lock:
            item, codes = self._kernels.get(path, (None, {}))
            if item is not None and item.artifact is not None:
                item.swap = substitution.module_swap(module, codes)
                item.swap.do(str(self.directory / item.artifact.file))

    def failed(self, error: Exception) -> None:
        """Something of ours raised in a hook. Told once; the program goes on."""
        with self._lock:
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = f" ({Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno})" if place is not None else ""
            note = f"depyf failed, and the dump is incomplete: {type(error).__name__}: {error}{where}"
            if note not in self.session.notes:
                self.session.notes.append(note)
            told, self._told = self._told, True
        if not told:
            report.warn(note)

    # The end

    def finish(self) -> None:
        """Writes what can only be written at the end. Never raises."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            for step in (
                self._flush,
                self._add_compiled_before,
                self._add_missing,
                self._add_features,
                self._write_provenance,
                self._write_full_code,
                self._write_index,
                self._guarding.close,
            ):
                try:
                    step()
                except Exception as error:
                    self.failed(error)

    def _flush(self) -> None:
        for compile in self._order:
            self._write_pending(compile)
            if compile.frame.status == "not compiled" and not compile.ended:
                compile.frame.error = "The block ended before this compilation did."

    def _add_compiled_before(self) -> None:
        """Adds what is still there of functions that were compiled before the block."""
        given = {id(code) for code in self._given_codes()}
        again = {id(compile.original) for compile in self._order if compile.original is not None}
        nothing_new = not any(compile.frame.status == "compiled" for compile in self._order)
        shown: list[str] = []
        others: list[str] = []
        for key, code in self._before.items():
            where = f"{code.co_name} ({Path(code.co_filename).name}:{code.co_firstlineno})"
            if not (nothing_new or key in given or key in again):
                others.append(where)
                continue
            entries = [entry for entry in dynamo.entries(code) if id(entry.code) not in self._seen_codes]
            for entry in reversed(entries):
                frame = Frame(
                    entry.compile_id or "?", code.co_name, code.co_filename, code.co_firstlineno, "compiled before"
                )
                frame.is_resume = dynamo.is_resume_code(code)
                frame.guards = texts.tree(entry.guards)
                compile = _Compile(frame, original=code)
                called = [n for name in entry.code.co_names if (n := names.compiled_fn_number(name)) is not None]
                frame.compiled_fn = compile.number = called[0] if called else None
                for name in entry.code.co_names:
                    if dynamo.is_resume_name(name):
                        self._add_resume(compile, name, dynamo.resume_code(dynamo.find_global(name)))
                self.session.frames.append(frame)
                self._order.append(compile)
                # An entry of the cache keeps the code that it has.
                self._write_transformed(frame, entry.code, may_run=False)
            if entries and not dynamo.is_resume_code(code):
                shown.append(where)
        self._link_resume_names()
        if shown:
            note = (
                f"Compiled before the block: {', '.join(shown)}. Of these compilations only the transformed code and the "
                "guards are still there; graphs and kernels are not. To see all, call torch._dynamo.reset() before the "
                "block, or make the first call in it."
            )
            self.session.notes.append(note)
            report.warn(f"depyf: {note}")
        elif nothing_new and not self.session.notes:
            note = (
                "Nothing was compiled in the block. Either no function under torch.compile was called in it, or Dynamo "
                "could not compile what was called."
            )
            self.session.notes.append(note)
            report.warn(f"depyf: {note}")
        if others:
            self.session.notes.append(
                f"Compiled before the block and not shown: {', '.join(others)}. Calls that use these compilations leave "
                "nothing here. To see them, call torch._dynamo.reset() before the block, or give the function: "
                "prepare_debug(fn, directory)."
            )

    def _given_codes(self) -> list[types.CodeType]:
        """The code of the functions given to `prepare_debug`, and of the resume functions that they lead to."""
        return dynamo.family([decompiler.find_code(function) for function in self._functions])

    def _add_features(self) -> None:
        """Adds what works here, and tells of what should and does not."""
        probe.tell_losses()
        self.session.features = probe.features()
        self.session.notes += [
            f"{one.feature}: {one.status}: {why}"
            for one in self.session.features
            if one.key in _OF_DUMPS
            for why in one.why
        ]

    def _add_missing(self) -> None:
        for compile in self._order:
            compile.frame.missing = dump.missing_artifacts(compile.frame, cache_hit=compile.cache_hit)

    def _write_provenance(self) -> None:
        self._provenance = [
            found
            for compile in self._order
            if (found := dumped.write(self.directory, compile.frame, compile.seen)) is not None
        ]

    def _write_full_code(self) -> None:
        by_code: dict[int, list[_Compile]] = {}
        for compile in self._order:
            if compile.original is not None:
                by_code.setdefault(id(compile.original), []).append(compile)
        reached: set[int] = set()
        tops = [key for key, group in by_code.items() if not group[0].frame.is_resume]
        for key in tops:
            reached |= self._write_story(key, by_code)
        # Resume functions whose beginning was not seen in this block have a story of their own.
        for key in by_code:
            if key not in reached:
                reached |= self._write_story(key, by_code)

    def _write_story(self, top: int, by_code: dict[int, list[_Compile]]) -> set[int]:
        """Writes one full_code file; returns the functions in it."""
        todo, reached = [top], {top}
        sections: list[dump.Section] = []
        while todo:
            key = todo.pop(0)
            group = by_code[key]
            original = group[0].original
            assert original is not None
            listed = [None if compile.guarded is None else compile.guarded.guards for compile in group]
            sections.append(dump.Section(original, [compile.frame for compile in group], listed))
            for compile in group:
                for resume in compile.resumes.values():
                    if resume is not None and id(resume) in by_code and id(resume) not in reached:
                        reached.add(id(resume))
                        todo.append(id(resume))
        name = sections[0].original.co_name
        text = dump.full_code(sections, self._read)
        path = self._claim(f"full_code_for_{names.safe_file_part(name)}_{{}}.py", lambda n: text, texts.without_ids)[0]
        ids = [frame.compile_id for section in sections for frame in section.frames]
        self.session.full_code.append(dump.FullCode(name, path.name, ids))
        return reached

    def _write_index(self) -> None:
        with files.locked(self.directory):
            runs = dump.merged_runs(self.directory, self.session)
            files.replace(self.directory / "session.json", dump.session_json(runs))
            files.replace(self.directory / "index.md", dump.index(runs))
            dumped.write_record(self.directory, self._provenance)
            files.replace(self.directory / "times.json", dump.times_json(self.session))

    # Compilations

    def _current(self, function: str | None = None) -> _Compile | None:
        """The compilation that this thread is at; what an earlier attempt left is dropped."""
        now = dynamo.current()
        if now is None:
            return None
        found = self._compiles.get(id(now.key))
        if found is not None:
            compile = found[1]
        else:
            compile = _Compile(Frame(now.compile_id, function or "?"), attempt=now.attempt)
            # The key is held so that its id is not given to another.
            self._compiles[id(now.key)] = (now.key, compile)
            self._order.append(compile)
            self.session.frames.append(compile.frame)
        if now.attempt > compile.attempt:
            self._drop_artifacts(compile)
            compile.attempt = compile.frame.attempt = now.attempt
        return compile

    def _told_about(self, compile: _Compile, record: trace.Record) -> None:
        frame = compile.frame
        if record.event == "start":
            if frame.function == "?":
                frame.function, frame.line = record.function or "?", record.line or 0
        elif record.event == "end":
            frame.filename = frame.filename or record.filename or ""
            frame.line = record.line or frame.line
            compile.ended = True
            frame.seconds = record.seconds
            if record.error:
                frame.error = names.shorten(record.error)
            self._write_pending(compile)
        elif record.event == "guards":
            frame.guards = texts.tree(record.text)
        elif record.event == "graph break":
            reason = texts.break_reason(record.text)
            if reason not in frame.graph_breaks:
                frame.graph_breaks.append(reason)
                frame.breaks.append(breaks.read(record.text, origins.library()))
        elif record.event == "recompile reasons":
            frame.recompile_reasons = texts.recompile_reasons(record.text)
            frame.failures = self._guarding.failures(frame.recompile_reasons)
        elif record.event == "specialization":
            line = source_line.users(record.stack, origins.library())
            compile.specialized.append(
                Symbol(record.symbol, [], value=record.value, specialized_by=line, reason=record.text)
            )
        elif record.event == "cache hit":
            compile.cache_hit = True

    def _set_number(self, compile: _Compile, number: int) -> None:
        if compile.number != number:
            if compile.number is not None:
                # The code calls another function than the one announced: what was written has the wrong name.
                for item in compile.items:
                    self._unwrite(compile, item)
            compile.number = compile.frame.compiled_fn = number
        self._write_pending(compile)

    def _name_resume_functions(self, compile: _Compile, code: types.CodeType) -> None:
        table = dynamo.globals_being_compiled() or {}
        for one in names.nested_codes(code):
            for name in one.co_names:
                if dynamo.is_resume_name(name):
                    self._add_resume(compile, name, dynamo.resume_code(table.get(name)))
        self._link_resume_names()

    def _add_resume(self, compile: _Compile, name: str, code: types.CodeType | None) -> None:
        if name not in compile.frame.resume_calls:
            compile.frame.resume_calls.append(name)
        compile.resumes[name] = code
        if code is not None:
            self._resume_names[id(code)] = (code, name)

    def _link_resume_names(self) -> None:
        for compile in self._order:
            if compile.frame.is_resume and id(compile.original) in self._resume_names:
                compile.frame.resume_name = self._resume_names[id(compile.original)][1]

    # Artifacts

    def _add(self, item: _Item) -> None:
        compile = self._current()
        if compile is None:
            self._write(item, "__no_compile_id", None)
            assert item.artifact is not None
            self.session.other_artifacts.append(item.artifact)
            return
        compile.items.append(item)
        if compile.number is not None:
            self._write_pending(compile)

    def _directed(self, compile: _Compile, direction: str) -> None:
        """Output code tells its direction; a graph from the same cache, which comes just before it, does not."""
        item = compile.items[-1] if compile.items else None
        if item is not None and item.kind == "AFTER_POST_GRAD" and item.direction is None:
            self._unwrite(compile, item)
            item.direction = direction

    def _write_pending(self, compile: _Compile) -> None:
        if compile.number is not None:
            stem = f"__compiled_fn_{compile.number}"
        else:
            stem = f"__compile_{names.safe_file_part(compile.frame.compile_id)}"
        for item in compile.items:
            if item.artifact is None:
                self._write(item, stem, compile.frame)
                assert item.artifact is not None
                compile.frame.artifacts.append(item.artifact)

    def _write(self, item: _Item, stem: str, frame: Frame | None) -> None:
        def text(runs: str | None) -> str:
            return dump.artifact_text(item.kind, item.text, item.direction, frame, runs)

        runs, codes, reason = None, {}, _OTHER_DUMP
        can_run = item.kind in _CAN_RUN
        if can_run:
            if item.graph is None and item.path is None:
                reason = "this PyTorch does not show what runs"
            elif hub.substitutes(self.directory):
                candidate = text(dump.runs_text(item.kind, ""))
                if item.graph is not None:
                    item.swap, reason = substitution.graph_swap(item.graph, candidate)
                    codes = {} if item.swap is None else {"forward": item.swap.pairs[0][1]}
                else:
                    codes, reason = substitution.kernel_codes(candidate, item.text, str(item.path))
            runs = dump.runs_text(item.kind, reason)
        content = text(runs)
        if item.kind == "kernel":
            template = f"{stem}.kernel_{{}}{item.suffix}"
        else:
            template = f"{stem}.{item.kind}.{{}}{item.suffix}"
        path, item.created = self._claim(template, lambda n: content, annotate.plain)
        item.artifact = Artifact(item.kind, path.name, item.direction, running=can_run and not reason)
        if codes:
            self._announce(str(path), item.kind, item.direction, frame, codes)
        if item.swap is not None:
            item.swap.do(str(path))
            item.modules.add(item.graph)
            item.nodes = graphs.node_names(item.graph)
            self._graphs.setdefault(len(item.nodes), []).append(item)
        elif item.path is not None and codes:
            self._kernels[item.path] = (item, codes)
            module = graphs.loaded_module(item.path)
            if module is not None:
                self.loaded(item.path, module)
        item.graph = None

    def _announce(
        self, path: str, kind: str, direction: str | None, frame: Frame | None, codes: substitution.Codes
    ) -> None:
        """Tells debuggers of a file that runs."""
        code = next((code for name, code in codes.items() if name.rpartition(".")[2] in ("call", "forward")), None)
        if code is None:
            code = next(iter(codes.values()))
        function, compile_id = ("?", "?") if frame is None else (frame.function, frame.compile_id)
        running.files[path] = running.RunningFile(path, kind, direction, function, compile_id, running.first_line(code))

    def _drop_artifacts(self, compile: _Compile) -> None:
        """Forgets what an attempt left that Dynamo has given up."""
        for item in compile.items:
            self._unwrite(compile, item)
        compile.items.clear()
        compile.number = compile.frame.compiled_fn = None

    def _unwrite(self, compile: _Compile, item: _Item) -> None:
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

    def _write_transformed(self, frame: Frame, code: types.CodeType, *, may_run: bool) -> types.CodeType | None:
        """Writes the source of transformed code. Returns the code compiled from that file, if it may run."""
        part = names.safe_file_part(frame.function)
        result = decompilation.decompile(code)
        frame.proved, frame.not_proved = result.proved, result.reason or None

        runs = "runs from this file"

        def text(n: int) -> str:
            return dump.transformed_text(frame, result.named(f"__transformed_code_{n}_for_{part}").source, runs)

        replacement = None
        if not may_run:
            runs = "what runs is the code of another block's file, or Dynamo's own"
        else:
            # The number is no part of the code, and moves no line.
            replacement = running.from_decompilation(result, text(0), "<dump>")
            frame.running = replacement is not None
            runs = runs if frame.running else "what runs is Dynamo's own code"
        path = self._claim(f"__transformed_code_{{}}_for_{part}.py", text)[0]
        frame.transformed_file = path.name
        if replacement is None:
            return None
        replacement = running.named(replacement, str(path))
        self._announce(str(path), "transformed code", None, frame, {"call": replacement})
        return replacement

    def _claim(self, template: str, text: Any, core: Any = None) -> tuple[Path, bool]:
        path, created = files.claim(lambda n: str(self.directory / template.format(n)), text, self._taken, core)
        self._taken.add(str(path))
        return path, created

    def _read(self, file: str) -> str:
        return (self.directory / file).read_text(encoding="utf-8")


def _with_reason(symbol: Symbol, specialized: list[Symbol]) -> Symbol:
    """A symbol with the reason why it was specialised, if it was."""
    for one in specialized:
        if one.name == symbol.name:
            return replace(symbol, value=one.value, specialized_by=one.specialized_by, reason=one.reason)
    return symbol
