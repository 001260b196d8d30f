"""Records the values that compiled functions keep for their backward, and the reason for each. Also computes how much
memory another partition into forward and backward would keep.

A `memory_costs` block receives each joint graph when PyTorch's partitioner divides it into a forward and a backward
part, and the output code that Inductor generates for the two parts. The C++ core (`src/costs`) computes which tensors
share memory, how much recomputing them would cost, and the memory plan of the output code.
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
"""The largest number of graphs that a `memory_costs` block keeps, so that a program that compiles forever does not fill
the memory."""


@dataclass
class WhatIf:
    """The memory that the recorded graphs would keep for the backward if they were divided into forward and backward in
    another way."""

    change: str
    """A text that names the change, such as `activation_memory_budget=0.5` or `checkpoint("layers.0")`."""
    bytes_before: int
    bytes_after: int
    """The bytes of the values that the forward graphs would compute and keep for the backward after the change. Inputs
    and parameters do not count as kept bytes, because they stay in memory in any case."""
    graphs: list[str] = field(default_factory=list)
    """The ids of the compilations in which the change would keep other values for the backward."""

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
    """The memory that the training graphs from a `memory_costs` block keep for their backward; `str(costs)` returns a
    text about this memory for readers."""

    def __init__(self) -> None:
        self._lock = locks.Lock()
        self._graphs: list[_Graph] = []
        self._last: dict[int, _Graph] = {}
        """Maps the id of a thread to the graph whose forward the thread compiles next."""
        self._own_memory: dict[str, int | None] = {}
        """Maps the text of a library call to the number of bytes that the call allocates; to None if the number cannot
        be measured."""

    def __str__(self) -> str:
        return _core.memory_costs_text(self.to_json())

    @property
    def saved_bytes(self) -> int:
        """The bytes of the values that the forward graphs compute and keep until their backward runs. Shared memory is
        counted once."""
        return _saved_bytes(_computed(self._seen()))

    def to_dict(self) -> dict[str, Any]:
        """Returns the costs as JSON data (docs/costs.md lists the members)."""
        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def to_json(self, indent: int | None = None) -> str:
        """Returns the data of `to_dict` as a JSON text."""
        seen = self._seen()
        text = _computed(seen)
        self._measure(json.loads(text)["graphs"])
        measured = {call: size for call, size in self._own_memory.copy().items() if size is not None}
        if measured:
            text = _computed([{**graph, "own_memory": measured} for graph in seen])
        return text if indent is None else json.dumps(json.loads(text), indent=indent)

    def what_if(self, *, budget: float | None = None, checkpoint: str | None = None) -> WhatIf:
        """Lets PyTorch's partitioner divide the recorded graphs again, with a change, and returns the memory that they
        would then keep for the backward.

        Args:
            budget: a value for `torch._functorch.config.activation_memory_budget`: 1 means the fastest division, and 0
                means that only the inputs are kept.
            checkpoint: the path of a module whose calls would be put under `torch.utils.checkpoint`; `layers.*` stands
                for each module of a list.

        Raises:
            ValueError: `budget` and `checkpoint` are both given or both missing, or the budget is not from 0 to 1, or
                no graph contains the module `checkpoint`.
            RuntimeError: the partitioner failed, as it would if the change were applied.
        """
        if (budget is None) == (checkpoint is None):
            raise ValueError("pass a budget, or the path of a module to checkpoint")
        if budget is not None and not 0 <= budget <= 1:
            raise ValueError(f"a budget has to be a number from 0 to 1, not {budget}")
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
        """Measures the memory of each library call in the memory plans of the graphs, unless the call was measured
        before. No lock is held during a measurement, so that another thread can compile."""
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
    """Returns the memory costs of the graphs `seen` as a JSON text."""
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
    """Records the memory that functions keep for their backward, if they are compiled while the block is open.

    A `memory_costs` block must contain the first training step. AOTAutograd's cache is off in a `memory_costs` block,
    because PyTorch does not divide a graph from the cache into forward and backward again. A function that was compiled
    before the block is not recorded; `torch.compiler.reset()` before the block makes PyTorch compile it again.

    For example:

        with depyf.memory_costs() as memory:
            compiled(x).sum().backward()
        print(memory)  # This prints the memory that is kept for the backward.
    """
    costs = MemoryCosts()
    undo = [partition.add_hook(costs._divided), trace.add_trace_handler(costs._traced, _ignore)]
    try:
        yield costs
    finally:
        for take_away in undo:
            take_away()


def _ignore(events: list[PhaseEvent]) -> None:
    """Ignores the events of PyTorch's timeline, because a `memory_costs` block does not need them."""
