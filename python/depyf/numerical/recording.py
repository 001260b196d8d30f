"""Compiles a function once more, and keeps every stage of each graph in a form that can be run.

The function is compiled in a forked process (see `isolation`), so the hooks need not be removed, and the new Dynamo
cache entries do not affect the user's process.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from depyf.compat import graphs, stage_hooks


@dataclass
class Snapshot:
    """A copy of a graph as it was at one point of the compilation."""

    stage: str
    """The name of the stage: "captured", "pre-grad", "joint", "forward", "backward" or "post-grad"."""
    pass_name: str
    """The name of the pass that produced the graph; "" for the first graph of a stage, or if no named pass produced
    it."""
    module: Any


@dataclass
class Call:
    """One call of the compiled form of a forward or backward graph of AOTAutograd."""

    inputs: list[Any]
    """The inputs before the call."""
    outputs: list[Any]
    inputs_after: list[Any]


@dataclass
class Backend:
    """A forward or backward graph that AOTAutograd passed to its compiler, with copies of the graph after later
    passes."""

    direction: str
    """"forward" or "backward"."""
    snapshots: list[Snapshot]
    """Copies of the graph: first as AOTAutograd passed it to its compiler, then after each post-grad pass that changed
    it."""
    path: str = ""
    """The file of the graph's output code; "" if the graph has no output code."""
    code: types.ModuleType | None = None
    nodes_of_buffers: dict[str, str] = field(default_factory=dict)
    """Maps the name of each buffer of the output code to the name of the node whose value the buffer contains. The
    nodes are those of the last snapshot in `snapshots`."""
    calls: list[Call] = field(default_factory=list)
    """The calls that were made while `Recording.keeps_calls` was set."""


@dataclass
class GraphCall:
    """A call of a compiled graph by the measured function."""

    inputs: list[Any]
    """Copies of the inputs from before the call. Copies of inputs that share memory share memory too."""
    are_leaves: list[bool]
    """For each input, true if it was a leaf of autograd's graph."""
    random_state: Any
    grad_enabled: bool
    autocast: list[tuple[str, Any]]
    """The devices for which autocast was on at the call, each with its autocast type."""
    tangents: dict[int, Any] = field(default_factory=dict)
    """Maps the index of an output to the output's gradient, if the program computed one."""


@dataclass
class Compilation:
    """One graph that Dynamo captured, with copies of the graph after later passes, and with its recorded calls."""

    number: int
    snapshots: list[Snapshot]
    """Copies of the captured graph: first as Dynamo captured it, then after each pre-grad pass that changed it."""
    joint: list[Snapshot] = field(default_factory=list)
    """Copies of the joint graph: first as AOTAutograd traced it, then after each joint pass that changed it."""
    backends: list[Backend] = field(default_factory=list)
    compiled: Callable[..., Any] | None = None
    calls: list[GraphCall] = field(default_factory=list)
    error: str = ""

    def backend(self, direction: str) -> Backend | None:
        """Returns AOTAutograd's graph for `direction` ("forward" or "backward"); None if AOTAutograd compiled no graph
        for this direction."""
        return next((backend for backend in self.backends if backend.direction == direction), None)


def copy_graph(module: Any) -> Any:
    """Returns a graph module with the same attributes and a copy of the graph, whose nodes keep their names."""
    import torch

    graph = torch.fx.Graph()
    copies: dict[Any, Any] = {}
    for node in module.graph.nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    return torch.fx.GraphModule(module, graph)


def _fingerprint(module: Any) -> tuple[Any, ...]:
    return tuple(
        [(node.name, node.op, str(node.target), str(node.args), str(node.kwargs)) for node in module.graph.nodes]
    )


def copy_values(values: list[Any]) -> list[Any]:
    """Returns copies of values. Tensors that share memory share memory in the copies too, with the same strides."""
    import torch

    storages: dict[int, Any] = {}
    copies: list[Any] = []
    for value in values:
        if type(value) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
            copies.append(value.clone() if isinstance(value, torch.Tensor) else value)
            continue
        if value.layout != torch.strided:
            copies.append(value.detach().clone())
            continue
        storage = value.untyped_storage()
        key = storage.data_ptr() or id(storage)
        if key not in storages:
            storages[key] = storage.clone()
        with torch.no_grad():
            same = torch.empty(0, dtype=value.dtype, device=value.device)
            same.set_(storages[key], value.storage_offset(), value.size(), value.stride())
            if value.is_conj():
                same = same.conj()
            if value.is_neg():
                same = torch.neg(same).resolve_neg()
        copies.append(same.requires_grad_(value.requires_grad))
    return copies


class Recording:
    """Records the compilations of one run of a function. The hooks in `stage_hooks` call the methods of this class."""

    def __init__(self, backend: Callable[..., Any]) -> None:
        self.backend = backend
        self.compilations: list[Compilation] = []
        self.keeps_calls = False
        self._current: Compilation | None = None
        self._directions: list[Backend] = []
        self._stage = ""
        self._snapshots: list[Snapshot] = []
        self._last: tuple[Any, ...] = ()

    # The next methods implement the backend that Dynamo calls.

    def compile(self, module: Any, example_inputs: list[Any]) -> Callable[..., Any]:
        """Compiles a graph with the program's backend. Returns a callable that runs the compiled graph and records its
        calls."""
        compilation = Compilation(len(self.compilations), [Snapshot("captured", "", copy_graph(module))])
        self.compilations.append(compilation)
        outer, self._current = self._current, compilation
        try:
            compilation.compiled = compiled = self.backend(module, example_inputs)
        except Exception as error:
            compilation.error = f"{type(error).__name__}: {error}"
            raise
        finally:
            self._current = outer
        return self._noting(compilation, compiled)

    def _noting(self, compilation: Compilation, compiled: Callable[..., Any]) -> Callable[..., Any]:
        import torch

        def call(*inputs: Any) -> Any:
            are_leaves = [not isinstance(value, torch.Tensor) or value.is_leaf for value in inputs]
            noted = GraphCall(
                copy_values(list(inputs)), are_leaves, torch.get_rng_state(), torch.is_grad_enabled(), _autocast()
            )
            compilation.calls.append(noted)
            with self.compiling_for(compilation):
                outputs = compiled(*inputs)
            for index, output in enumerate(outputs if isinstance(outputs, (list, tuple)) else [outputs]):
                if isinstance(output, torch.Tensor) and output.requires_grad and not output.is_leaf:
                    output.register_hook(lambda gradient, index=index: _note_tangent(noted, index, gradient))
            return outputs

        noting: Callable[..., Any] = torch.compiler.disable(call)
        return noting

    @contextlib.contextmanager
    def compiling_for(self, compilation: Compilation) -> Iterator[None]:
        """While the context manager is entered, every graph that PyTorch compiles is recorded in `compilation`. PyTorch
        may compile a backward graph only when it is first called, long after the forward graph."""
        outer, self._current = self._current, compilation
        try:
            yield
        finally:
            self._current = outer

    # The hooks of `stage_hooks` call the next methods.

    def begin_passes(self, stage: str, module: Any) -> None:
        """Selects the list to which the copies of the graph after the passes of `stage` are added. If `stage` is
        "joint", also keeps a copy of the joint graph from before the passes."""
        self._stage = stage
        if self._current is None:
            self._snapshots = []
        elif stage == "pre-grad":
            self._snapshots = self._current.snapshots
        elif stage == "joint":
            self._snapshots = self._current.joint
            if not self._snapshots:
                self._snapshots.append(Snapshot("joint", "", copy_graph(module)))
        else:
            self._snapshots = self._directions[-1].snapshots if self._directions else []
        self._last = _fingerprint(module)

    def shown(self, name: str, module: Any, caller: str) -> None:
        """Keeps a copy of the joint graph that PyTorch logs, which is needed for backends without joint passes."""
        if name.lower() == "joint graph" and self._current is not None and not self._current.joint:
            self._current.joint.append(Snapshot("joint", "", copy_graph(module)))

    def end_pass(self, name: str, module: Any) -> None:
        """Keeps a copy of the graph after a pass that changed the graph."""
        if not self._stage or self._current is None:
            return
        fingerprint = _fingerprint(module)
        if fingerprint != self._last:
            self._last = fingerprint
            with contextlib.suppress(RuntimeError):  # A graph in the middle of a pass may be invalid and fail to copy.
                self._snapshots.append(Snapshot(self._stage, name, copy_graph(module)))

    def end_passes(self, stage: str, module: Any) -> None:
        """Keeps a copy of the graph after the passes of a stage, if the graph has changed since the last named pass."""
        self.end_pass("", module)
        self._stage = ""

    def begin_backend(self, module: Any, is_backward: bool) -> None:
        """Keeps a forward or backward graph that AOTAutograd passes to its compiler."""
        direction = "backward" if is_backward else "forward"
        backend = Backend(direction, [Snapshot(direction, "", copy_graph(module))])
        self._directions.append(backend)
        if self._current is not None:
            self._current.backends.append(backend)

    def end_backend(self, module: Any, call: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
        """Returns a callable that runs a compiled graph of AOTAutograd, and records its calls while `keeps_calls` is
        set."""
        backend = self._directions.pop()

        def noting(inputs: list[Any]) -> Any:
            if not self.keeps_calls:
                return call(inputs)
            before = copy_values(list(inputs))
            same = list(inputs)  # The callee clears the list `inputs`.
            outputs = call(inputs)
            backend.calls.append(Call(before, copy_values(list(outputs)), copy_values(same)))
            return outputs

        return noting

    def loaded(self, path: str, module: types.ModuleType) -> None:
        """Keeps the output code of the graph that is being compiled."""
        if self._directions:
            self._directions[-1].path, self._directions[-1].code = path, module

    def lowered(self, nodes_of_buffers: dict[str, str]) -> None:
        """Keeps a dict that maps each buffer of the output code to the node whose value the buffer contains."""
        if self._directions:
            self._directions[-1].nodes_of_buffers = nodes_of_buffers


def _autocast() -> list[tuple[str, Any]]:
    import torch

    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    return [(name, torch.get_autocast_dtype(name)) for name in devices if torch.is_autocast_enabled(name)]


def _note_tangent(call: GraphCall, index: int, gradient: Any) -> None:
    known = call.tangents.get(index)
    copied = gradient.detach().clone()
    call.tangents[index] = copied if known is None else known + copied


def record(backend: Callable[..., Any]) -> Recording:
    """Returns a `Recording` that records all graphs that this process compiles from now on."""
    recording = Recording(backend)
    stage_hooks.prepare()
    stage_hooks.install(recording)
    return recording


def output_nodes(module: Any) -> list[Any]:
    """Returns the nodes that a graph returns, with None for constants."""
    result = next(node for node in reversed(module.graph.nodes) if node.op == "output").args[0]
    items = result if isinstance(result, (list, tuple)) else [result]
    return [item if hasattr(item, "op") else None for item in items]


__all__ = ["Backend", "Compilation", "Recording", "Snapshot", "copy_values", "graphs", "record"]
