"""Measures the time that Dynamo takes to trace each line of source: Dynamo's translator executes one bytecode
instruction after the other, symbolically."""

from __future__ import annotations

import threading
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from depyf.compat import dynamo, private

_TRANSLATOR = "torch._dynamo.symbolic_convert:InstructionTranslatorBase"
_GRAPH = "torch._dynamo.output_graph:OutputGraph"
_LINES_MAX = 50_000
"""The largest number of source lines, in all compilations, whose time is recorded."""


@dataclass
class LineTime:
    """The time that Dynamo needed to trace one line of source."""

    self_seconds: float = 0.0
    """The time that the line itself took, without the functions that it calls."""
    total_seconds: float = 0.0
    """The time that the line took together with the functions that it calls. The time of a recursive line counts once
    for each call."""
    instructions: int = 0

    def add(self, seconds: float, inner: float, compiling: float) -> None:
        """Adds the time of an instruction. `inner` is the part of `seconds` that nested instructions and the
        compilation of graphs took, and `compiling` is the part that only the compilation of graphs took."""
        self.self_seconds += seconds - inner
        self.total_seconds += seconds - compiling
        self.instructions += 1


class _Work(threading.local):
    """The times of the instructions that Dynamo is tracing in the calling thread."""

    def __init__(self) -> None:
        self.nested: list[float] = []
        """For each instruction that is being traced: the time that nested instructions and the compilation of graphs
        have taken. The outermost instruction comes first."""
        self.compiling: list[float] = []
        """For each instruction that is being traced: the time that the compilation of graphs has taken, which does not
        count as tracing."""
        self.compile_id = ""


Lines = dict[tuple[str, types.CodeType, int], LineTime]


def add_hook(lines: Lines) -> Callable[[], None]:
    """Adds up the time that tracing takes, by compile id, code and line, until the returned function is called."""
    translator, step = private.get(_TRANSLATOR), private.get(f"{_TRANSLATOR}.step")
    if translator is None or not isinstance(step, types.FunctionType):
        return lambda: None
    work, clock = _Work(), time.perf_counter

    def timed_step(self: Any) -> Any:
        nested, compiling = work.nested, work.compiling
        if not nested:
            current = dynamo.current()
            work.compile_id = "" if current is None else current.compile_id
        nested.append(0.0)
        compiling.append(0.0)
        start = clock()
        try:
            return step(self)
        finally:
            seconds = clock() - start
            inner, graphs = nested.pop(), compiling.pop()
            if nested:
                nested[-1] += seconds
                compiling[-1] += graphs
            key = (work.compile_id, self.f_code, self.lineno)
            line = lines.get(key)
            if line is None and len(lines) < _LINES_MAX:
                line = lines[key] = LineTime()
            if line is not None:
                line.add(seconds, inner, graphs)

    graph, finish = private.get(_GRAPH), private.get(f"{_GRAPH}.compile_subgraph")

    def timed_finish(self: Any, *args: Any, **kwargs: Any) -> Any:
        # A graph is compiled while its last instruction is traced, but the time of the compilation does not count as
        # tracing the line.
        start = clock()
        try:
            return finish(self, *args, **kwargs)
        finally:
            seconds = clock() - start
            if work.nested:
                work.nested[-1] += seconds
                work.compiling[-1] += seconds

    undo = [_replace(translator, "step", timed_step)]
    if isinstance(finish, types.FunctionType):
        undo.append(_replace(graph, "compile_subgraph", timed_finish))

    def remove() -> None:
        for take_away in undo:
            take_away()

    return remove


def _replace(owner: Any, name: str, function: Callable[..., Any]) -> Callable[[], None]:
    before = getattr(owner, name)
    setattr(owner, name, function)

    def remove() -> None:
        if owner.__dict__.get(name) is function:  # No other code has replaced the function since.
            setattr(owner, name, before)

    return remove
