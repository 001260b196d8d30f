"""Adds the records of PyTorch's structured trace to the compilations of a `prepare_debug` block."""

from __future__ import annotations

from typing import Any

from depyf import names, source_line, weak
from depyf.capture import graph_texts, outcomes
from depyf.capture.compilation import Compilation, Item
from depyf.capture.compilations import Compilations
from depyf.capture.guarding import Guarding
from depyf.capture.items import Items
from depyf.capture.moved_lines import with_present_lines
from depyf.compat import graphs, origins, trace
from depyf.guards import breaks, texts
from depyf.session import CacheMiss, GuardTime, RuntimeValue, Session, Symbol

DIRECTIONS = {"Joint_graph": "joint", "Forward_graph": "forward", "Backward_graph": "backward"}
"""Maps a kind of graph to "joint", "forward" or "backward"; kinds whose graphs can have several directions are not
listed."""

SAME_CODE = "an earlier graph of the compilation is the same, and both run from the file of that one's output code"


class TraceRecords:
    """Adds the content of each record of PyTorch's structured trace to the compilation that the record is about. The
    class is not thread safe: callers must hold the lock of the `Recorder`.

    Args:
        session: receives notes about calls of `torch.export`, which the dump does not contain.
        compilations: the compilations of the `prepare_debug` block.
        items: receives graphs and output code.
        guarding: determines why the guards of earlier compilations reject a call.
    """

    def __init__(self, session: Session, compilations: Compilations, items: Items, guarding: Guarding) -> None:
        self._session = session
        self._compilations = compilations
        self._items = items
        self._guarding = guarding

    def take(self, record: trace.Record) -> None:
        """Adds the content of a record to the compilation that the calling thread is working on."""
        if record.event == "export":
            self._note_export(record)
            return
        compilation = self._compilations.current()
        if record.graph is not None:
            self._add_graph(record, record.graph, compilation)
        elif record.event == "kernel":
            self._add_kernel(record, compilation)
        elif compilation is not None:
            if record.event == "end":
                self._end(compilation, record)
            elif record.event == "graph break":
                self._add_break(compilation, record)
            elif record.event in ("specialization", "runtime value"):
                _add_size(compilation, record)
            else:
                self._add_fact(compilation, record)

    def _add_graph(self, record: trace.Record, kind: str, compilation: Compilation | None) -> None:
        text, graph = record.text, weak.NOTHING
        if kind != "Captured_Graph":  # The graph that Dynamo captures never comes from a cache.
            text = with_present_lines(text)
        direction = DIRECTIONS.get(kind) or graphs.direction()
        if compilation is not None:
            graph = compilation.graphs.pop(kind, weak.NOTHING)
            text = graph_texts.readable(kind, direction, text, compilation.seen)
        self._items.add(Item(kind, text, direction, ".py", graph=graph), compilation)

    def _add_kernel(self, record: trace.Record, compilation: Compilation | None) -> None:
        direction = record.direction or graphs.direction()
        kernel = Item("kernel", record.text, direction, ".py", path=record.path)
        if compilation is None:
            self._items.add(kernel, None)
            return
        same = next((item for item in compilation.items if item.path == record.path is not None), None)
        if same is not None and not same.announced:
            same.announced = True  # The output code was loaded before the trace announced it.
            return
        kernel.announced = True
        if same is not None:
            kernel.superseded = SAME_CODE
        if direction is not None:
            self._items.set_direction_of_last_graph(compilation, direction)
        self._items.add(kernel, compilation)
        compilation.seen.direction(direction).code = record.text

    def _note_export(self, record: trace.Record) -> None:
        """Adds a note to the session, which states that the dump does not contain the graphs of a call of
        `torch.export`."""
        place = f" at {record.stack[0].name}:{record.stack[0].line}" if record.stack else ""
        note = outcomes.EXPORT.format(what=record.function or "...", place=place)
        if note not in self._session.notes:
            self._session.notes.append(note)

    def _add_fact(self, compilation: Compilation, record: trace.Record) -> None:
        """Adds the content of a record that concerns a compilation as a whole: its start, its guards, the reasons for a
        recompilation, or a hit or miss in a cache."""
        frame = compilation.frame
        if record.event == "start":
            compilation.started = True
            if frame.function == "?":
                frame.function, frame.line = record.function or "?", record.line or 0
        elif record.event == "guards":
            frame.guards = texts.tree(record.text)
        elif record.event == "recompile reasons":
            frame.recompile_reasons = texts.recompile_reasons(record.text)
            frame.failures = self._guarding.failures(frame.recompile_reasons)
        elif record.event == "cache hit":
            compilation.cached.add(graphs.direction())
        elif record.event == "cache miss" and '"components": []' not in record.text:  # else no keys can be compared
            file = self._items.write_beside(compilation, "cache_miss", record.text)
            frame.misses.append(CacheMiss("AOTAutograd" if '"key": "a' in record.text else "Inductor", file))

    def end_precompiling(self, graph: Any, succeeded: bool) -> None:
        """Records the end of a compilation by `torch.compiler.precompile`. `graph` is the captured graph; None if no
        graph was captured."""
        compilation = self._compilations.end_ahead()
        if compilation is None:
            return
        self._compilations.touch(compilation)
        frame = compilation.frame
        compilation.ended = True
        if graph is not None and not compilation.has_lowered:
            text = graph.print_readable(print_output=False)
            self._items.add(Item("Forward_graph", text, "forward", ".py"), compilation)
        frame.notes = [outcomes.PRECOMPILED]
        if succeeded:
            frame.status = "compiled"
        else:
            frame.error = "torch.compiler.precompile raised an error, which went to the caller"
        self._items.write_all(compilation)
        compilation.settle()

    def _end(self, compilation: Compilation, record: trace.Record) -> None:
        """Records the end of a compilation, and the reason if the compilation has failed."""
        frame = compilation.frame
        frame.filename = frame.filename or record.filename or ""
        frame.line = record.line or frame.line
        compilation.ended = True
        frame.seconds = record.seconds
        if frame.guard_time is None and record.guard_microseconds is not None:
            frame.guard_time = GuardTime(record.guard_microseconds)
        if record.error:
            frame.error = names.shorten(record.error)
            number = compilation.number_of_original
            order = self._compilations.order
            same_function = [earlier.frame for earlier in order if earlier.number_of_original == number]
            outcomes.add_failure(frame, compilation.function(), same_function, self._compilations.users_line)
        self._items.write_all(compilation)
        compilation.settle()

    def _add_break(self, compilation: Compilation, record: trace.Record) -> None:
        """Adds a graph break, unless an earlier attempt of the compilation has already reported it."""
        frame = compilation.frame
        reason = texts.break_reason(record.text)
        if reason not in frame.graph_breaks:
            frame.graph_breaks.append(reason)
            own = outcomes.place_of(frame)
            frame.breaks.append(breaks.read(record.text, origins.library(), own, self._compilations.users_line))


def _add_size(compilation: Compilation, record: trace.Record) -> None:
    """Adds a symbolic size that was specialised to a constant, or a size that is known only when the graph runs."""
    line = source_line.users(record.stack, origins.library())
    if record.event == "specialization":
        constant = Symbol(record.symbol, [], value=record.value, specialized_by=line, reason=record.text)
        compilation.specialized.append(constant)
        return
    frame = compilation.frame
    others = [value for value in frame.runtime_values if value.name != record.symbol]
    frame.runtime_values = [*others, RuntimeValue(record.symbol, record.value, line)]
