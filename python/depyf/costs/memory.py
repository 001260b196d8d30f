"""Records which values compiled functions keep for their backward, why, and how much another partition would keep.

A `memory_costs` block receives each joint graph as PyTorch's partitioner divides it, and the output code that Inductor
generates for the forward and backward parts. The C++ core (`src/costs`) computes which tensors share memory, how much
recomputing them would cost, and the memory plan of the output code.
"""

from __future__ import annotations

import dataclasses
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from depyf import _core, locks
from depyf.compat import dynamo, partition, trace
from depyf.compat.partition import Partition
from depyf.costs import own_memory
from depyf.session import PhaseEvent

_AOT_ID = re.compile(r"# AOT ID: \['(\d+)_(\w+)'\]")
_MEASURING_SECONDS = 20.0
"""The time in seconds after which `to_json` begins no further measurement of a library call."""
_GRAPHS_MAX = 1000
"""The largest number of graphs that a block keeps, so that a program that compiles forever does not fill the memory."""


@dataclass
class WhatIf:
    """The memory that the graphs would keep for the backward after a change of their partition."""

    change: str
    """The change: `activation_memory_budget=0.5`, or `checkpoint("layers.0")`."""
    bytes_before: int
    bytes_after: int
    """The bytes that the forwards would compute and keep after the change. Inputs and parameters do not count as kept
    bytes, because they stay in memory in any case."""
    graphs: list[str] = field(default_factory=list)
    """The compilations that the change affects."""

    def __str__(self) -> str:
        share = f", {100 * (1 - self.bytes_after / self.bytes_before):.0f} % less" if self.bytes_before else ""
        return f"{self.change}: {self.bytes_after:,} bytes are kept in place of {self.bytes_before:,}{share}"


@dataclass
class _Graph:
    partition: Partition
    compile_id: str
    codes: dict[str, str] = field(default_factory=dict)
    """Maps "forward" or "backward" to the output code for this direction."""
    number: str = ""


class MemoryCosts:
    """The memory that training graphs compiled in a `memory_costs` block keep for their backward; `str(costs)` returns
    a text about it for readers."""

    def __init__(self) -> None:
        self._lock = locks.Lock()
        self._graphs: list[_Graph] = []
        self._last: dict[int, _Graph] = {}
        """Maps the id of a thread to the graph whose forward the thread compiles next."""
        self._own_memory: dict[str, int | None] = {}
        """Maps a library call to the bytes that it allocates; None if they cannot be measured."""

    def __str__(self) -> str:
        return _core.memory_costs_text(self.to_json())

    @property
    def saved_bytes(self) -> int:
        """The bytes that the forwards compute and keep until their backwards, with shared memory counted once."""
        return _saved_bytes(_computed(self._seen()))

    def to_dict(self) -> dict[str, Any]:
        """Returns the costs as JSON data (docs/costs.md lists the members)."""
        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def to_json(self, indent: int | None = None) -> str:
        """Returns `to_dict` as a JSON text."""
        seen = self._seen()
        text = _computed(seen)
        self._measure(json.loads(text)["graphs"])
        measured = {call: size for call, size in self._own_memory.copy().items() if size is not None}
        if measured:
            text = _computed([{**graph, "own_memory": measured} for graph in seen])
        return text if indent is None else json.dumps(json.loads(text), indent=indent)

    def what_if(self, *, budget: float | None = None, checkpoint: str | None = None) -> WhatIf:
        """Lets PyTorch's partitioner divide the graphs again after a change, and returns the memory that would be kept.

        Args:
            budget: a value for `torch._functorch.config.activation_memory_budget`: 1 for the fastest division, 0 to
                keep only the inputs.
            checkpoint: the path of a module whose calls would be put under `torch.utils.checkpoint`; `layers.*` stands
                for each module of a list.

        Raises:
            ValueError: both or none of `budget` and `checkpoint` are given, the budget is not from 0 to 1, or no graph
                contains the module.
            RuntimeError: the partitioner failed, as it would if the change were applied.
        """
        if (budget is None) == (checkpoint is None):
            raise ValueError("give a budget, or the path of a module to checkpoint")
        if budget is not None and not 0 <= budget <= 1:
            raise ValueError(f"a budget is a number from 0 to 1, and not {budget}")
        with self._lock:
            graphs = list(self._graphs)
        divided: list[_Graph] = []
        changed: list[str] = []
        missing: list[str] = []
        for graph in graphs:
            try:
                again = graph.partition.redo(budget, checkpoint)
            except LookupError as error:
                missing.append(str(error))
                again = graph.partition
            if again is None:
                raise RuntimeError(f"PyTorch's partitioner did not divide the graph of {graph.compile_id} again")
            divided.append(dataclasses.replace(graph, partition=again, codes={}))
            if again.saved != graph.partition.saved:
                changed.append(graph.compile_id)
        if graphs and len(missing) == len(graphs):
            raise ValueError(missing[0])
        after = _saved_bytes(_computed([_plain(graph) for graph in divided]))
        change = f"activation_memory_budget={budget}" if checkpoint is None else f'checkpoint("{checkpoint}")'
        return WhatIf(change, self.saved_bytes, after, changed)

    def _seen(self) -> list[dict[str, Any]]:
        with self._lock:
            return [_plain(graph) for graph in self._graphs]

    def _measure(self, graphs: list[dict[str, Any]]) -> None:
        """Measures the library calls of the graphs' plans that have not been measured. No lock is held during a
        measurement, so that another thread can compile."""
        plans = [plan for graph in graphs for plan in (graph["forward"], graph["backward"]) if plan]
        calls = {call["call"] for plan in plans for call in plan["library_calls"]}
        until = time.monotonic() + _MEASURING_SECONDS
        for call in sorted(calls - self._own_memory.keys()):
            if time.monotonic() > until:
                break
            self._own_memory[call] = own_memory.measure(call)

    def _divided(self, divided: Partition) -> None:
        with self._lock:
            if len(self._graphs) < _GRAPHS_MAX:
                current = dynamo.current()
                self._graphs.append(_Graph(divided, "" if current is None else current.compile_id))
                self._last[threading.get_ident()] = self._graphs[-1]

    def _traced(self, record: trace.Record) -> None:
        at_head = _AOT_ID.search(record.text[:4000]) if record.event == "kernel" else None
        if at_head is None:
            return
        number, direction = at_head.groups()
        with self._lock:
            graph = self._last.pop(threading.get_ident(), None) if direction == "forward" else None
            if graph is not None:
                graph.number = number
            else:
                graph = next((known for known in self._graphs if known.number == number), None)
            if graph is not None:
                graph.codes[direction] = record.text


def _computed(seen: list[dict[str, Any]]) -> str:
    """Returns the costs of graphs as JSON."""
    return _core.memory_costs(json.dumps({"graphs": seen}))


def _saved_bytes(costs: str) -> int:
    return sum(graph["saved_bytes"] for graph in json.loads(costs)["graphs"])


def _plain(graph: _Graph) -> dict[str, Any]:
    import torch

    divided = graph.partition
    values = [
        {**value._asdict(), "line": None if value.line is None else dataclasses.asdict(value.line)}
        for value in divided.values
    ]
    return {
        "compile_id": graph.compile_id,
        "partitioner": divided.partitioner,
        "values": values,
        "saved": divided.saved,
        "outputs": divided.outputs,
        "symbols": divided.symbols,
        "threads": torch.get_num_threads(),
        "forward_code": graph.codes.get("forward", ""),
        "backward_code": graph.codes.get("backward", ""),
    }


@contextmanager
def memory_costs() -> Iterator[MemoryCosts]:
    """Records the memory that functions compiled in the block keep for their backward.

        with depyf.memory_costs() as memory:
            compiled(x).sum().backward()
        print(memory)

    A `memory_costs` block must contain the first training step. AOTAutograd's cache is off in a `memory_costs` block,
    because a graph from the cache is not divided again. A function that was compiled before the block is not recorded;
    `torch.compiler.reset()` before the block makes PyTorch compile it again.
    """
    costs = MemoryCosts()
    undo = [partition.add_hook(costs._divided), trace.add_trace_handler(costs._traced, _ignore)]
    try:
        yield costs
    finally:
        for take_away in undo:
            take_away()


def _ignore(events: list[PhaseEvent]) -> None:
    """Ignores events of the timeline, which are not needed here."""
