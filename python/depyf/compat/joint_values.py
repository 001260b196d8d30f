"""The nodes of a joint graph as plain data: the operator, the inputs, the size and storage of the value, and the source
line."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from depyf.compat import fx_nodes, private
from depyf.source_line import Line

RANDOM_STATE = "the backward runs an operator again with this state of random numbers"
"""The reason why a node that the partitioner itself added to the forward graph may not be recomputed."""


class Value(NamedTuple):
    """A node of the joint graph, or a node that the partitioner added to the forward graph."""

    name: str
    operator: str
    """The operator of the node; "" for an input."""
    inputs: tuple[int, ...]
    """The positions in `Values.values` of the nodes that this node reads."""
    dtype: str
    """The element type, such as `torch.float32`; "" if the value is no tensor."""
    shape: tuple[str, ...]
    bytes: int
    """The size of the value's elements in bytes. A dynamic size counts with its value in the call that was compiled."""
    storage: int
    """The number of the value's storage, which views share; -1 if the value is no tensor."""
    storage_bytes: int
    line: Line | None
    module: str
    rule: str
    """The reason why the value may not be recomputed; "" if it may be."""
    is_forward: bool
    source: str
    """The name of the node of the captured graph that this node comes from; "" if PyTorch recorded no such node."""


class Values:
    """Reads the nodes of a joint graph and of its forward graph. A node that is in the joint graph and in the forward
    graph is read once."""

    def __init__(self, rules: Mapping[str, str], forward: Collection[str], call: Line | None) -> None:
        self.values: list[Value] = []
        self._call = call
        self.symbols: dict[str, int] = {}
        self._rules, self._forward = rules, forward
        self._positions: dict[str, int] = {}
        self._storages: dict[int, tuple[int, Any]] = {}
        """Maps the id() of a storage to the pair (number of the storage, storage). The table keeps the storage alive so
        that its id() stays unique."""

    def add(self, graph: Any) -> None:
        """Adds the nodes of the joint graph."""
        for node in graph.nodes:
            if node.op != "output":
                self._positions[node.name] = len(self.values)
                self.values.append(self._value(node, self._rules.get(node.name, "")))

    def name_of(self, node: Any) -> str:
        """Returns the name under which `values` contains the value of a node of the forward graph, and adds the value
        to `values` if the joint graph does not have the node. A node that the partitioner added may have the same name
        as a different node of the joint graph."""
        name = str(node.name)
        position = self._positions.get(name)
        if position is not None and self.values[position].operator == _operator(node):
            known = node.meta.get("val")
            if not hasattr(known, "dtype") or str(known.dtype) == self.values[position].dtype:
                return name
        value = self._value(node, RANDOM_STATE)
        while name in self._positions:
            name += "_of_forward"
        self._positions[name] = len(self.values)
        self.values.append(value._replace(name=name))
        return name

    def _value(self, node: Any, rule: str) -> Value:
        import torch

        held = node.meta.get("val")
        is_tensor = isinstance(held, torch.Tensor)
        if isinstance(held, torch.SymInt):
            self.symbols[str(held)] = _hint(held)
        number, storage_bytes = self._storage(held) if is_tensor else (-1, 0)
        is_input = node.op == "placeholder"
        line = _line_nearby(node) or self._call
        return Value(
            str(node.name),
            _operator(node),
            tuple(self._positions[source.name] for source in node.all_input_nodes if source.name in self._positions),
            str(held.dtype) if is_tensor else "",
            tuple(str(size) for size in held.shape) if is_tensor else (),
            _product(held.shape) * held.element_size() if is_tensor else 0,
            number,
            storage_bytes,
            line,
            fx_nodes.module_of(node) or (_module_of_user(node) if is_input else ""),
            rule,
            not self._forward or node.name in self._forward,
            fx_nodes.source_of(node),
        )

    def _storage(self, tensor: Any) -> tuple[int, int]:
        try:
            storage = tensor.untyped_storage()
            size = _hint(storage.nbytes())
        except (NotImplementedError, RuntimeError):  # The tensor has no storage, as a sparse tensor.
            return len(self._storages) + 1_000_000_000, _product(tensor.shape) * tensor.element_size()
        number, _ = self._storages.setdefault(id(storage), (len(self._storages), storage))
        return number, size


def _operator(node: Any) -> str:
    return "" if node.op == "placeholder" else fx_nodes.target_of(node)


_NEIGHBOURS_MAX = 100


def _line_nearby(node: Any) -> Line | None:
    """Returns the user's line of a node. If the node has no line, because the compiler pass that created it recorded
    none, returns the line of the nearest node that has a line. Of the direct neighbours, the nodes that `node` reads
    are tried before the nodes that read `node`. Returns None if no node near `node` has a line."""
    waiting, seen = [node], {node}
    for near in waiting:
        line = fx_nodes.line_of(near)
        if line is not None or len(waiting) > _NEIGHBOURS_MAX:
            return line
        for neighbour in (*near.all_input_nodes, *near.users):
            if neighbour not in seen and neighbour.op != "output":
                seen.add(neighbour)
                waiting.append(neighbour)
    return None


def _module_of_user(node: Any) -> str:
    return next((module for user in node.users if (module := fx_nodes.module_of(user))), "")


def _product(sizes: Any) -> int:
    return math.prod(_hint(size) for size in sizes)


def _hint(size: Any) -> int:
    """Returns a size as an integer; for a dynamic size, its value in the call that was compiled, and 0 if the value is
    unknown."""
    if isinstance(size, int):
        return size
    hint = private.of(private.of(size, "torch:SymInt.node"), "torch.fx.experimental.sym_node:SymNode.hint")
    return hint if isinstance(hint, int) else 0
