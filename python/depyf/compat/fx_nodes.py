"""Reads the nodes of an FX graph, and the data in their `meta` by which PyTorch records their origin.

In a node's `meta`, the user's line is the last line of `stack_trace`, and `seq_nr` is the same for an operation and its
backward. `nn_module_stack` has the modules whose methods were active, as a dict whose values are pairs (path, class). A
backward node has the modules of its forward node under the key `fwd_nn_module_stack`. A field of a `NodeRow` is empty
if the node's `meta` lacks the key from which the field is read.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from depyf import _core
from depyf.compat import private
from depyf.compat.origins import library
from depyf.compat.private import guarded
from depyf.source_line import Line, users

_META = "torch.fx.node:Node.meta"
NOTES = tuple(f"{_META}[{key}]" for key in ("stack_trace", "from_node", "seq_nr", "original_aten", "partitioner_tag"))
"""The paths of keys of a node's `meta`, such as `torch.fx.node:Node.meta[stack_trace]`."""
_MODULES = (f"{_META}[nn_module_stack]", f"{_META}[fwd_nn_module_stack]")
_KEYS = tuple(path.partition("[")[2].removesuffix("]") for path in (*NOTES, *_MODULES))
_SOURCE = "torch.fx.traceback:NodeSource"
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)$')


# Patterns for the parts of a path such as `L['self']._modules['blocks'].0`: the start `L['self']`, a subscript, and the
# names of the tables in which a module keeps its members.
_START = re.compile(r"^[LG]\[(['\"])(.*?)\1\]")
_SUBSCRIPT = re.compile(r"\[(['\"]?)([^\]'\"]*)\1\]")
_TABLES = {"_modules", "_parameters", "_buffers", ""}


class Module(NamedTuple):
    """A module of the user's model."""

    path: str
    """The path from the module whose method is compiled, such as `blocks.9.attn`; "" for that module itself."""
    class_name: str
    """The full name of the class, such as `torch.nn.modules.linear.Linear`."""


class Source(NamedTuple):
    """A node from which another node was derived."""

    name: str
    graph: int
    """The number of the node's graph, as the function `identity` returns it; 0 if PyTorch does not record the number. A
    compiler pass may derive a node from a temporary graph, in which a name can stand for another node than in the other
    graphs."""


class NodeRow(NamedTuple):
    """One node of a graph that computes a value."""

    name: str
    target: str
    """The operator, such as `torch.nn.functional.gelu` or `aten.mul.Tensor`."""
    line: Line | None = None
    """The user's line that the node comes from."""
    sources: tuple[Source, ...] = ()
    """The nodes that this node was derived from, in the graphs in which they first occurred."""
    seq_nr: int | None = None
    """The number that autograd gives to the operation; a backward node has the number of its forward node."""
    original: str = ""
    """The operator that the node was decomposed from, such as `aten.gelu.default`."""
    backward: bool = False
    notes: tuple[str, ...] = ()
    """The members of `NOTES` whose keys are present in the node's `meta`."""
    modules: tuple[Module, ...] = ()
    """The modules whose methods were active, the innermost last."""

    @property
    def module(self) -> str:
        """Returns the path of the innermost module to which the node belongs; "" if `modules` is empty."""
        return self.modules[-1].path if self.modules else ""


@guarded(list)
def rows(graph_module: Any) -> list[NodeRow]:
    """Returns the nodes of a graph in their order, except its inputs, attributes and output."""
    line = functools.partial(_line, torch_folder=library())
    nodes = list(graph_module.graph.nodes)
    return _core.node_rows(
        nodes, NodeRow, Source, _KEYS, _checked, line, _sources, _modules, _target, _copied_into_input
    )


def _checked(meta: Any) -> tuple[list[Any], tuple[str, ...]]:
    """Returns a pair. The first item has the values that a node's `meta` has under the keys `_KEYS`, with None for a
    value that is absent or has a wrong type. The second item has the members of `NOTES` whose values are present."""
    meta = private.checked(_META, meta)
    notes = [private.item(meta, path) for path in NOTES]
    noted = tuple([path for path, value in zip(NOTES, notes, strict=True) if value is not None])
    stacks = [meta.get(key) for key in _KEYS[len(NOTES) :]]
    notes += [
        value if value is None or type(value) is dict else private.item(meta, path)
        for path, value in zip(_MODULES, stacks, strict=True)
    ]
    return notes, noted


def _sources(made_from: Any) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(map(_innermost, made_from)))


def _copied_into_input(node: Any) -> str:
    """Returns the name of the node whose value a `copy_` copies into an input of the graph; "" if the target of the
    `copy_` is no input.

    AOTAutograd writes the new values of buffers back at the end of a graph, and PyTorch attributes these copies to the
    graph's last line. depyf attributes a `copy_` into an input to the user's line of the node that computed the copied
    value.
    """
    into: Any
    value: Any
    into, value = node.args[:2] if len(node.args) > 1 else (None, None)
    return str(value.name) if getattr(into, "op", "") == "placeholder" and hasattr(value, "name") else ""


@guarded(int)
def identity(graph_module: Any) -> int:
    """Returns a number that identifies a graph as long as the graph lives; 0 if the graph cannot be read."""
    return id(graph_module.graph)


def line_of(node: Any) -> Line | None:
    """Returns the user's line that a node comes from; None if the node's `meta` records no line."""
    return _line(private.item(private.checked(_META, node.meta), NOTES[0]), library())


def module_of(node: Any) -> str:
    """Returns the path of the user's module that a node belongs to; "" if the node's `meta` records no module."""
    meta = private.checked(_META, node.meta)
    stack = private.item(meta, _MODULES[0]) or private.item(meta, _MODULES[1])
    modules = _modules(stack) if stack else ()
    return modules[-1].path if modules else ""


def module_paths(node: Any) -> list[str]:
    """Returns the paths of the user's modules whose methods were active when a node was created, the outermost
    first."""
    meta = private.checked(_META, node.meta)
    stack = private.item(meta, _MODULES[0]) or private.item(meta, _MODULES[1])
    return [module.path for module in _modules(stack)] if stack else []


def source_of(node: Any) -> str:
    """Returns the name of the captured node that a node comes from; "" if the node's `meta` records no captured
    node."""
    made_from = private.item(private.checked(_META, node.meta), NOTES[1])
    return _innermost(made_from[0]).name if made_from else ""


def target_of(node: Any) -> str:
    """Returns the operator of a node, such as `aten.mul.Tensor`."""
    return _target(node)


def _modules(stack: dict[Any, Any]) -> tuple[Module, ...]:
    """Returns the modules of a node's stack of modules; an empty tuple if PyTorch stores the modules in an unknown
    form."""
    try:
        return tuple(
            [
                Module(dotted(path), kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}")
                for path, kind in stack.values()
            ]
        )
    except (AttributeError, TypeError, ValueError):
        return ()


@functools.lru_cache(maxsize=4096)
def dotted(path: str) -> str:
    """Returns a path to a module or tensor as a dotted name, without the names of the tables, such as `_modules`, in
    which a module keeps its members. For example, `L['self']._modules['blocks'].0` becomes `blocks.0`."""
    parts = _SUBSCRIPT.sub(r".\2", _START.sub(r"\2", path)).split(".")
    if parts[0] == "self":
        del parts[0]
    return ".".join([part for part in parts if part not in _TABLES])


def _target(node: Any) -> str:
    if node.op == "call_method":
        return f"Tensor.{node.target}"
    # An `OpOverload` is the only object for its operator as long as the process lives, so its name can be cached.
    if type(node.target).__name__ == "OpOverload":
        return _of_operator(node)
    return _printed(node)


def _printed(node: Any) -> str:
    try:
        return str(node._pretty_print_target(node.target))
    except Exception:
        return str(node.target)


_operators: dict[Any, str] = {}
"""Maps the target of a node to the name that PyTorch prints for the target. Nothing clears `_operators`, as PyTorch
keeps its operators, too. `_operators` has no lock, as threads may write the same value at once; a forked child
continues with its copy.
"""


def _of_operator(node: Any) -> str:
    printed = _operators.get(node.target)
    if printed is None:
        printed = _operators[node.target] = _printed(node)
    return printed


def _innermost(source: Any) -> Source:
    """Follows the chain of nodes from which a node was derived, and returns the first node of the chain: the node of
    the captured graph, or the node that a pass created."""
    if isinstance(source, tuple):  # A pair (name, callee) has no further sources.
        return Source(str(source[0]), 0)
    for _ in range(32):
        inner = private.of(source, f"{_SOURCE}.from_node")
        if not inner:
            break
        source = inner[0]
    return Source(str(private.of(source, f"{_SOURCE}.name", "")), private.of(source, f"{_SOURCE}.graph_id", 0) or 0)


def _line(trace: Any, torch_folder: str) -> Line | None:
    return _line_of(trace, torch_folder) if isinstance(trace, str) else None


@functools.lru_cache(maxsize=4096)  # The nodes of all graphs of a compilation share a few stacks.
def _line_of(trace: str, torch_folder: str) -> Line | None:
    # Text behind the lines of the frames, such as PyTorch's remark about sums of gradients, is not part of the stack.
    lines = trace.splitlines()
    stack = [
        Line(frame["file"], int(frame["line"]), after.strip(), frame["function"])
        for line, after in zip(lines, [*lines[1:], ""], strict=False)
        if (frame := _FRAME.match(line))
    ]
    return users(stack, torch_folder)
