"""PyTorch's structured trace.

PyTorch's function `trace_structured` sends records to the logger `torch.__trace` if the logger has handlers. Each
record of the trace is sent immediately, in the compiling thread. A handler that raises an exception would break the
compilation, so depyf's handler catches all exceptions.
"""

from __future__ import annotations

import collections
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from depyf import _core
from depyf.compat import at_work, private
from depyf.compat.dynamo import not_compiled
from depyf.compat.loggers import Handler
from depyf.compat.private import guarded
from depyf.session import PhaseEvent
from depyf.source_line import Line

_TRACE = "torch.__trace"
_SENDER = "torch._logging._internal:trace_structured"
# Maps the name of a record that contains a graph to the kind of the graph in depyf's file names.
_GRAPHS = {
    "dynamo_output_graph": "Captured_Graph",
    "before_pre_grad_graph": "BEFORE_PRE_GRAD",
    "after_pre_grad_graph": "AFTER_PRE_GRAD",
    "aot_joint_graph": "Joint_graph",
    "aot_forward_graph": "Forward_graph",
    "aot_inference_graph": "Forward_graph",
    "aot_backward_graph": "Backward_graph",
    "before_post_grad_graph": "BEFORE_POST_GRAD",
    "inductor_post_grad_graph": "AFTER_POST_GRAD",
    "after_post_grad_graph": "AFTER_POST_GRAD",
}
_EVENTS = {
    "dynamo_start": "start",
    "compilation_metrics": "end",
    "inductor_output_code": "kernel",
    "dynamo_cpp_guards_str": "guards",
    "dynamo_graph_break_reason": "graph break",
    "recompile_reasons": "recompile reasons",
    "fx_graph_cache_hit": "cache hit",
    "aotautograd_cache_hit": "cache hit",
    "fx_graph_cache_miss": "cache miss",
    "aotautograd_cache_miss": "cache miss",
    "symbolic_shape_specialization": "specialization",
    "create_unbacked_symbol": "runtime value",
}
_HEARD = {*_GRAPHS, *_EVENTS}
_OF_EACH_INPUT = "describe_tensor"
_OF_A_PHASE = "chromium_event"
_AOT_ID = re.compile(r"# AOT ID: \['\d+_(\w+)'\]")


@dataclass(frozen=True)
class Record:
    """A record of the structured trace."""

    event: str
    """The kind of the record: "graph", "kernel", "guards", "graph break", "recompile reasons", "cache hit", "cache
    miss", "start", "end", "specialization", "runtime value" or "export". The field `text` has the payload of the
    record, or the reason of a specialization."""
    text: str = ""
    graph: str | None = None
    """For a record of the kind "graph": the kind of the graph in depyf's file names."""
    direction: str | None = None
    """For a record of the kind "kernel": the direction of the kernel, "forward" or "backward"; None if the text of the
    kernel does not contain the direction."""
    function: str | None = None
    filename: str | None = None
    line: int | None = None
    """For a record of the kind "start" or "end": the first line of the function that is compiled."""
    error: str | None = None
    """For a record of the kind "end": the reason why nothing was compiled."""
    seconds: float | None = None
    """For a record of the kind "end": the duration of the compilation in seconds."""
    guard_microseconds: float | None = None
    """For a record of the kind "end": the time in microseconds that PyTorch measured for a check of the guards; None
    before PyTorch 2.7, and if PyTorch measured no check."""
    symbol: str = ""
    value: str = ""
    stack: tuple[Line, ...] = ()
    """For a specialization, `symbol`, `value` and `stack` are the symbol of the size, its only value, and the user's
    lines. For a runtime value, `symbol`, `value` and `stack` are the symbol, the range, and the lines that compute the
    value."""
    path: str | None = None
    """For a record of the kind "kernel": the path of PyTorch's own file with the kernel."""


_FACTS = ("co_filename", "co_firstlineno", "fail_type", "fail_reason", "entire_frame_compile_time_s")
"""The metrics of a compilation that depyf reads from every release of PyTorch."""
_GUARD_TIME = "guard_latency_us"
"""The metric with the time of a check of guards, which not every release of PyTorch has."""


def _facts_of(metadata: Callable[[], Any]) -> dict[str, Any] | None:
    """Returns the metrics of a compilation that depyf reads; None if they can only be obtained by calling `metadata`.

    PyTorch's function `metadata` returns a deep copy of the single object in its closure, which has a hundred fields.
    The copy takes longer than writing the transformed code, so depyf reads the object in the closure instead of calling
    `metadata`.
    """
    cells = getattr(metadata, "__closure__", None)
    if cells is None or len(cells) != 1:
        return None
    try:
        metrics = cells[0].cell_contents
        facts = {fact: getattr(metrics, fact) for fact in _FACTS}
        facts[_GUARD_TIME] = getattr(metrics, _GUARD_TIME, None)
        return facts
    except (AttributeError, ValueError):
        return None


# The code of `_facts_of` gets the file name of `logging`, whose functions Dynamo skips; see `_Handlers`.
_facts_of.__code__ = _core.moved(_facts_of.__code__, logging.__file__)


class _Handlers(list[logging.Handler]):
    """The list of handlers of the structured trace while depyf's handler is the only one.

    PyTorch tests whether the list of handlers is empty before it builds a record (`if trace_log.handlers`). The method
    `__bool__` passes the data for the record to depyf's handler and returns False, as an empty list does, so that
    PyTorch builds no record. If the list has other handlers besides depyf's, or the logger has filters, `__bool__`
    returns True for each record that depyf uses, and depyf's handler receives the record that PyTorch builds.
    """

    def __bool__(self) -> bool:
        if len(self) != 1 or type(self[0]) is not _TraceHandler:
            return len(self) > 0
        handler = self[0]
        count = 0 if handler.logger.filters else _core.collect_event(handler.pending, os.getpid())
        if count:  # `trace_structured` was called for an event of the timeline, as in most cases.
            if count >= handler.pending_max:
                handler.give_events()
            return False
        frame = sys._getframe(1)
        if frame.f_code.co_name != "trace_structured":
            return True
        local = frame.f_locals
        name = local.get("name")
        if type(name) is not str:
            private.not_found(f"{_SENDER}.name")
            return True
        if name == _OF_EACH_INPUT:
            handler.notice()
            return False
        may_be_heard = name in _HEARD or name in ("artifact", _OF_A_PHASE)
        if not may_be_heard or handler.logger.filters:
            return may_be_heard
        metadata, payload = local.get("metadata_fn"), local.get("payload_fn")
        if not callable(metadata) or not callable(payload):
            private.not_found(f"{_SENDER}.{'payload_fn' if callable(metadata) else 'metadata_fn'}")
            return True
        try:
            facts = _facts_of(metadata) if _EVENTS.get(name) == "end" else None
            facts = metadata() if facts is None else facts
        except Exception as error:  # Without depyf, PyTorch would not have called `metadata`.
            private.blame(error)
            return False
        if name != "artifact" or not isinstance(facts, dict) or facts.get("name") in _HEARD:
            handler.tell(name, facts, payload)
        return False

    # The code of `__bool__` gets the file name of `logging`: Dynamo skips functions in that file, but could compile a
    # function in depyf's file.
    __bool__.__code__ = _core.moved(__bool__.__code__, logging.__file__)


class _TraceHandler(Handler):
    """Receives the content of the structured trace: as PyTorch's records or, through `_Handlers`, before PyTorch builds
    a record.

    Args:
        receive: is called with the metadata and the payload of a record.
        exports: is called once or several times for each call of `torch.export`, because `torch.export` has no record
            of its own.
        phases: is called with events of PyTorch's timeline, in their order.
        pending_max: the number of events that are collected before `phases` is called.
    """

    def __init__(
        self,
        receive: Callable[[Any, Any], None],
        exports: Callable[[at_work.Export], None],
        phases: Callable[[list[PhaseEvent]], None],
        pending_max: int,
    ) -> None:
        @guarded()
        def on_record(record: logging.LogRecord) -> None:
            give_events()
            metadata: Any = record.metadata  # type: ignore[attr-defined]
            if isinstance(metadata, dict) and _OF_EACH_INPUT in metadata:
                self.notice()
            if isinstance(metadata, dict) and _OF_A_PHASE in metadata:
                self.pending.append((os.getpid(), lambda: record.payload))  # type: ignore[attr-defined]
                give_events()
            else:
                receive(metadata, record.payload)  # type: ignore[attr-defined]

        @guarded()
        def give_events() -> None:
            events = _core.timeline_events(self.pending, os.getpid(), PhaseEvent, json.loads, private.blame)
            if events:
                phases(events)

        @guarded()
        def on_input() -> None:
            export = at_work.export()
            if export is not None:
                exports(export)

        @guarded()
        def on_call(name: str, facts: Any, payload: Callable[[], Any]) -> None:
            give_events()
            text = payload()
            if text is not None and not isinstance(text, str):
                text = json.dumps(text, default=list)
            receive({name: facts}, text)

        super().__init__(on_record)
        self.tell = not_compiled(on_call)
        self.notice = not_compiled(on_input)
        self.give_events = not_compiled(give_events)
        self.pending: collections.deque[tuple[int, Callable[[], Any]]] = collections.deque()
        """The events that have not yet been passed to `phases`, each as a pair: the process id, and PyTorch's function
        that returns the content of the event. A compilation has hundreds of events, and each call of a function that is
        marked for Dynamo to skip is expensive, so many events are passed on in one call."""
        self.pending_max = pending_max
        self.logger = logging.getLogger(_TRACE)


def has_records() -> bool:
    """True if this PyTorch sends records of the structured trace, which releases before 2.4 do not."""
    return private.get("torch._logging:trace_structured") is not None


def flush() -> None:
    """Passes the events of the timeline that each handler has collected to the handler's receiver."""
    for handler in [*logging.getLogger(_TRACE).handlers]:
        if isinstance(handler, _TraceHandler):
            handler.give_events()


def add_trace_handler(
    receive: Callable[[Record], None],
    receive_events: Callable[[list[PhaseEvent]], None],
    *,
    pending_max: int = 256,
) -> Callable[[], None]:
    """Calls `receive(record)` for each record of the trace that depyf uses, and `receive_events(events)` with the
    events of PyTorch's timeline, until the returned function is called.

    Args:
        receive: is called with each record, after `receive_events` was called with the events before the record.
        receive_events: is called before each record and in `flush`, if events have been collected.
        pending_max: the number of events after which `receive_events` is called even if there is no record.
    """

    def tell(metadata: Any, payload: Any) -> None:
        if not isinstance(metadata, dict):
            private.not_found(f"{_TRACE}.metadata", f"is of type {type(metadata).__name__}")
            return
        if payload is not None and not isinstance(payload, str):
            kind = next(iter(metadata), "?")
            private.not_found(f"{_TRACE}.payload", f"of {kind} is of type {type(payload).__name__}")
            payload = None
        event = _read(metadata, payload)
        if event is not None:
            receive(event)

    logger = logging.getLogger(_TRACE)

    def tell_export(export: at_work.Export) -> None:
        stack = () if export.line is None else (export.line,)
        receive(Record("export", function=export.module, stack=stack))

    handler = _TraceHandler(tell, tell_export, receive_events, pending_max)
    try:
        logger.addHandler(handler)
    except Exception as error:
        private.not_found(_TRACE, f"raised {type(error).__name__}: {error}")
        return lambda: None
    before = logger.handlers
    if type(before) is list:
        # depyf's handler is put in front of all other handlers: PyTorch has a handler that removes itself from the list
        # at the first record, and the next handler in the list misses this record.
        logger.handlers = _Handlers(
            [handler, *(other_handler for other_handler in before if other_handler is not handler)]
        )

    def remove() -> None:
        logger.removeHandler(handler)
        if type(logger.handlers) is _Handlers:
            before[:] = logger.handlers
            logger.handlers = before

    return remove


def _read(metadata: dict[str, Any], payload: str | None) -> Record | None:
    """Returns the content of a record; None if depyf does not use records of its kind."""
    artifact = metadata.get("artifact")
    name = artifact.get("name") if isinstance(artifact, dict) else next(iter(metadata), None)
    if name in _GRAPHS:
        return Record("graph", payload, graph=_GRAPHS[name]) if payload is not None else None
    event = _EVENTS.get(name) if isinstance(name, str) else None
    if event is None:
        return None
    data = metadata.get(str(name))
    if event == "start":
        stack = data.get("stack") if isinstance(data, dict) else None
        last = stack[-1] if isinstance(stack, list) and stack else {}
        last = last if isinstance(last, dict) else {}
        return Record(event, function=last.get("name"), line=last.get("line"))
    if event == "end":
        facts = data if isinstance(data, dict) else {}
        failed = f"{facts['fail_type']}: {facts.get('fail_reason')}" if facts.get("fail_type") else None
        seconds, guard_us = facts.get("entire_frame_compile_time_s"), facts.get(_GUARD_TIME)
        return Record(
            event,
            filename=facts.get("co_filename"),
            line=facts.get("co_firstlineno"),
            error=failed,
            seconds=seconds if isinstance(seconds, float) else None,
            guard_microseconds=None if guard_us is None else float(guard_us),
        )
    if event == "specialization":
        facts = data if isinstance(data, dict) else {}
        stack = tuple(_lines(facts.get("user_stack")))
        return Record(
            event,
            str(facts.get("reason", "")),
            symbol=str(facts.get("symbol")),
            value=str(facts.get("value")),
            stack=stack,
        )
    if event == "runtime value":
        facts = data if isinstance(data, dict) else {}
        stack = tuple(_lines(facts.get("user_stack")))
        return Record(event, symbol=str(facts.get("symbol")), value=str(facts.get("vr") or ""), stack=stack)
    direction = None
    if event == "kernel" and payload is not None and (aot_id := _AOT_ID.match(payload)):
        direction = aot_id[1].replace("inference", "forward")
    path = data.get("filename") if event == "kernel" and isinstance(data, dict) else None
    return Record(event, payload or "", direction=direction, path=path if isinstance(path, str) else None)


def _lines(stack: Any) -> Iterator[Line]:
    """Yields the lines of a stack in a record. In the record, numbers represent the names of files."""
    table = private.get("torch._logging.structured:INTERN_TABLE") or {}
    names = {number: name for name, number in table.items()}
    for row in stack if isinstance(stack, list) else ():
        file = row.get("filename")
        yield Line(
            str(names.get(file, file)), row.get("line") or 0, str(row.get("loc") or ""), str(row.get("name") or "")
        )
