"""Reads how AOTAutograd divides a joint graph into forward and backward, and why it saves a value instead of
recomputing it.

The min-cut partitioner builds a flow network in which each value is an edge from `NAME_in` to `NAME_out`, and computes
the cut through which the fewest bytes pass. In the partitioner's flow network, an edge of unlimited capacity from
"source" to `NAME_in` means that the value may not be recomputed; from PyTorch 2.10 on, the edge also has the reason as
text. depyf reads the flow network when the partitioner calls `networkx.minimum_cut`.
"""

from __future__ import annotations

import linecache
import math
import os
import re
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from depyf.compat import fx_nodes, intercept, private
from depyf.compat.joint_values import Value, Values
from depyf.compat.origins import library
from depyf.compat.private import guarded
from depyf.source_line import Line, is_users

_PARTITIONERS = "torch._functorch.partitioners"
MIN_CUT, DEFAULT = f"{_PARTITIONERS}:min_cut_rematerialization_partition", f"{_PARTITIONERS}:default_partition"
_BUDGET = "torch._functorch.config:activation_memory_budget"
_CACHE = "torch._functorch.config:enable_autograd_cache"
_HEURISTIC = "used far apart in the forward, or at the end of a long chain of operators that could be fused"


@dataclass
class Partition:
    """A joint graph, and how its partitioner divided it."""

    values: list[Value]
    saved: list[str]
    """The names of the values, including sizes, that the forward saves for the backward, in the order in which it
    returns them."""
    outputs: int
    """The number of values that the forward returns in front of the saved values."""
    partitioner: str
    """The partitioner that divided the graph: "min cut" or "default"."""
    symbols: dict[str, int]
    """Maps the symbol of a dynamic size to the value of the size in the call that was compiled."""
    redo: Callable[[float | None, str | None], Partition | None] = field(repr=False)
    """A function that divides the graph again: its arguments are another memory budget, and a path of modules whose
    values are recomputed. The function returns None if the installed PyTorch lacks the partitioner."""


class _Rules:
    """The nodes that the last minimum cut was not allowed to recompute, with the reasons."""

    def __init__(self) -> None:
        self.rules: dict[str, str] = {}
        self.forward: set[str] = set()

    def read(self, network: Any) -> None:
        """Reads from PyTorch's flow network which nodes may not be recomputed, before the minimum cut of the network
        determines which nodes are recomputed."""
        self.rules = {
            name.removesuffix("_in"): str(edge.get("reason", "")).removeprefix("cannot recompute").lstrip(": ")
            or _HEURISTIC
            for name, edge in network["source"].items()
            if edge.get("capacity") == math.inf
        }


class _AtWork(threading.local):
    """The state of the division of a joint graph that the calling thread is performing."""

    rules: _Rules | None = None
    """The nodes that may not be recomputed in the graph that is being divided; None outside of a division."""
    is_again: bool = False
    """True if the graph is divided for `Partition.redo`."""


_at_work = _AtWork()
"""The state of the division of a joint graph that the calling thread is performing. `_at_work` has no lock, because
each thread has its own state. A forked child continues with its copy of the state, and each division of a graph clears
the state."""


def add_hook(receive: Callable[[Partition], None]) -> Callable[[], None]:
    """Calls `receive(partition)` in the compiling thread for each joint graph that is divided, until the returned
    function is called. AOTAutograd's cache is disabled while the hook is set, because a graph from the cache is not
    divided again."""
    undo = [_around(path, _of_partition(receive, path)) for path in (MIN_CUT, DEFAULT)]
    undo.append(_around(f"{_PARTITIONERS}:solve_min_cut", _of_cut))
    settings = _settings({_CACHE: False})
    settings.__enter__()

    def remove() -> None:
        settings.__exit__(None, None, None)
        for take_away in undo:
            take_away()

    return remove


def _around(path: str, answer: Callable[[Callable[..., Any]], intercept.Call]) -> Callable[[], None]:
    function = private.get(path)
    return intercept.around(function, answer) if function is not None else lambda: None


@contextmanager
def _settings(values: dict[str, Any]) -> Iterator[None]:
    """Changes settings of PyTorch during a `with` block."""
    before: list[tuple[Any, str, Any]] = []
    for path, value in values.items():
        module, name = private.module_of(path), path.partition(":")[2]
        if module is not None:
            before.append((module, name, getattr(module, name)))
            setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def _of_cut(original: Callable[..., Any]) -> intercept.Call:
    def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
        rules = _at_work.rules
        if rules is None:
            return original(*args, **kwargs)
        with _cuts(rules):
            result = original(*args, **kwargs)
        _note_forward(rules, args)
        return result

    return call


@guarded()
def _note_forward(rules: _Rules, args: tuple[Any, ...]) -> None:
    rules.forward = {str(node.name) for node in private.of(args[1], f"{_PARTITIONERS}:NodeInfo.required_fw_nodes", ())}


@contextmanager
def _cuts(rules: _Rules) -> Iterator[None]:
    """Reads the flow networks that the partitioner cuts in this thread during a `with` block."""
    try:
        import networkx
    except ImportError:  # PyTorch itself raises an error if networkx is missing.
        yield
        return
    thread, cut = threading.get_ident(), networkx.minimum_cut

    def minimum_cut(network: Any, *args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() == thread:
            read(network)
        return cut(network, *args, **kwargs)

    read = guarded()(rules.read)
    networkx.minimum_cut = minimum_cut
    try:
        yield
    finally:
        networkx.minimum_cut = cut


_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def _calling_line() -> Line | None:
    """Returns the innermost line of the user's code on the stack of the calling thread; None if the stack has no line
    of the user. The returned line is used for nodes that have no line of their own."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(("<", _PACKAGE)) and is_users(file, library()):
            return Line(file, frame.f_lineno, linecache.getline(file, frame.f_lineno).strip(), frame.f_code.co_name)
        frame = frame.f_back
    return None


def _of_partition(receive: Callable[[Partition], None], path: str) -> Callable[[Callable[..., Any]], intercept.Call]:
    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            # Inductor's pattern matcher also divides joint graphs, but these are graphs of its patterns, not of the
            # user's code.
            is_pattern = caller == "torch._inductor.pattern_matcher"
            if is_pattern or _at_work.rules is not None or _at_work.is_again:
                return original(*args, **kwargs)
            before = _copy_of(args[0]) if args else None
            _at_work.rules = rules = _Rules()
            try:
                result = original(*args, **kwargs)
            finally:
                _at_work.rules = None
            partition = _partition(before, args, kwargs, result=result, rules=rules, path=path)
            if partition is not None:
                receive(partition)
            return result

        return call

    return answer


@guarded()
def _copy_of(module: Any) -> Any:
    """Returns a copy of a graph module, with copies of its nodes and of their `meta` dicts."""
    import torch

    graph = torch.fx.Graph()
    copies: dict[Any, Any] = {}
    graph.output(graph.graph_copy(module.graph, copies))
    copied = torch.fx.GraphModule(module, graph)
    copied.meta = dict(module.meta)
    for old, new in zip(module.graph.nodes, graph.nodes, strict=True):
        new.meta = dict(old.meta)
    return copied


@guarded()
def _partition(
    before: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, result: Any, rules: _Rules, path: str
) -> Partition | None:
    count = kwargs.get("num_fwd_outputs")
    if before is None or not isinstance(count, int):
        return None
    forward, mode = result[0].graph, _mode()

    def redo(budget: float | None, module: str | None) -> Partition | None:
        with _tracing(mode):
            return _again(before, args, kwargs, path=path, budget=budget, module=module)

    values = Values(rules.rules, rules.forward, _calling_line())
    values.add(args[0].graph)
    outputs = next(node for node in reversed(forward.nodes) if node.op == "output").args[0]
    saved = [values.name_of(node) if hasattr(node, "meta") else "" for node in outputs[count:]]
    partitioner = "min cut" if rules.rules else "default"
    return Partition(values.values, saved, count, partitioner, values.symbols, redo)


def _mode() -> Any:
    """Returns the fake tensor mode under which the current graph is compiled; None outside of a compilation."""
    context = private.call("torch._guards:TracingContext.try_get")
    return None if context is None else private.of(context, "torch._guards:TracingContext.fake_mode")


@contextmanager
def _tracing(mode: Any) -> Iterator[None]:
    """Enters a tracing context during a `with` block, because the partitioner reads the fake tensor mode from the
    tracing context."""
    context, tracing = private.get("torch._guards:TracingContext"), private.get("torch._guards:tracing")
    if mode is None or context is None or tracing is None:
        yield
        return
    with tracing(context(mode)):
        yield


@guarded(raises=(LookupError,))
def _again(
    before: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    path: str,
    budget: float | None,
    module: str | None,
) -> Partition | None:
    function, graph_module = private.get(path), _copy_of(before)
    if function is None or graph_module is None:
        return None
    if module is not None:
        _mark(graph_module, module)
    rules = _Rules()
    _at_work.is_again, _at_work.rules = True, rules
    try:
        with _settings({} if budget is None else {_BUDGET: budget}), _cuts(rules):
            call = (graph_module, *args[1:])
            result = function(*call, **kwargs)
    finally:
        _at_work.is_again, _at_work.rules = False, None
    return _partition(before, call, kwargs, result=result, rules=rules, path=path)


def _mark(graph_module: Any, path: str) -> None:
    """Marks the nodes of the modules that `path` stands for as PyTorch marks the nodes of a function under
    `torch.utils.checkpoint`. Each outermost module that matches `path` is a checkpoint region of its own."""
    policy = private.get("torch.utils.checkpoint:CheckpointPolicy.PREFER_RECOMPUTE")
    regions: dict[str, int] = {}
    nodes = [
        node
        for node in graph_module.graph.nodes
        if node.op == "call_function" and node.meta.get("partitioner_tag") != "is_backward"
    ]
    is_of = _matching(path, {name for node in nodes for name in fx_nodes.module_paths(node)})
    for node in nodes:
        region = next((name for name in fx_nodes.module_paths(node) if name in is_of), None)
        if region is not None:
            node.meta["recompute"] = policy
            node.meta["ac_graph_id"] = regions.setdefault(region, len(regions) + 1_000_000)


def _matching(path: str, names: set[str]) -> set[str]:
    """Returns the paths of modules that `path` stands for: `layers.0`, or `layers.*` for each module of a list.

    Raises:
        LookupError: no module of the graph matches `path`.
    """
    pattern = re.escape(path).replace(r"\*", r"[^.]+")
    for start in ("", r".*\."):
        matching = {name for name in names if re.fullmatch(start + pattern, name)}
        if matching:
            return matching
    raise LookupError(f"no module {path!r} computes a part of this graph")
