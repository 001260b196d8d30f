"""Prints Inductor's IR as Inductor prints it, in a fraction of Inductor's time.

The text of a node of the IR is that of `BaseSchedulerNode.debug_str`: the node's writes and reads, its buffers, and
lines for the kind of node, such as the body of a loop. The printer learns from Inductor's own text which kinds of nodes
it can print (see `learning`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from math import isfinite
from operator import getitem
from typing import Any

from depyf import names
from depyf.compat import printed
from depyf.printing import sympy_text
from depyf.printing.learning import Learner, Unknown

_WIDTH = 80  # the maximum width of a line that `pprint` does not break
# The names that PyTorch's printing functions use in the known releases; a function that uses another name belongs to an
# unknown release, whose IR PyTorch has to print.
_USED = set(
    "AssertionError Exception IndentedBuffer LoopBody TorchBindObject V WeakDep __name__ _body _debug_str_for_device _sizes "
    "append chain code debug_device_str debug_str debug_str_extra device dict dtype enumerate extend fx get_aliases get_buffer "
    "get_mutations get_name get_outputs getattr getrawvalue graph GraphModule group indent index indexing_exprs ir is_pinned "
    "isinstance items itertools join layout len log max_input_distance min_input_distance mode name node offset pformat ranges re "
    "read_writes reads reads_and_writes replace root_block rstrip size snodes splice strip stride sub subblocks submodules body "
    "textwrap torch type unmet_dependencies users var_ranges warning writeline writes".split()
)
_USER = ["node", "can_inplace", "is_weak"]
_LAYOUTS = ("FixedLayout", "FlexibleLayout")
_MOST_KEPT = 4096  # expressions


class Printer:
    """Prints the IR, and learns which kinds of nodes it can print."""

    def __init__(self) -> None:
        self._learner = Learner()
        self._known: dict[type, bool] = {}
        self._constant = _Constant()

    def forget(self) -> None:
        """Releases the objects whose texts are cached."""
        self._constant = _Constant()

    def text(self, nodes: Iterable[Any]) -> str:
        """Returns the text of all nodes, as `DebugFormatter._write_ir` returns it."""
        if len(self._constant.alive) > _MOST_KEPT:
            self.forget()
        ir = _Ir(self._constant)
        texts = []
        for node in nodes:
            kind = type(node)
            if kind not in self._known:
                self._known[kind] = _makes_known_text(kind)
            own = node.debug_str
            node_text = self._learner.text(functools.partial(ir.node, node), own) if self._known[kind] else own()
            texts.append(f"{node_text}\n\n\n")
        return "".join(texts)


_Kept = dict[int, tuple[Any, str, set[Any]]]
"""Maps the `id` of an object to the object, its text, and the kinds of its parts."""


class _Constant:
    """Texts of objects that never change, so that the texts are built only once for the IR before fusion and the IR
    after fusion."""

    def __init__(self) -> None:
        self.expressions: dict[int, str] = {}
        """Maps the `id` of a SymPy expression to its text, because equal expressions can have different texts (2 and
        2.0)."""
        self.alive: list[Any] = []
        """The expressions in `expressions`, which are kept alive so that no other object gets their `id`."""
        self.dependencies: _Kept = {}


class _Ir:
    """The state of printing the IR; the IR does not change while it is printed, so that the text of each object is
    built only once."""

    def __init__(self, constant: _Constant) -> None:
        self._is_usual = sympy_text.is_right()
        constant = constant if self._is_usual else _Constant()
        self._expressions, self._alive = constant.expressions, constant.alive
        self._kept_dependencies = constant.dependencies
        self._kept: _Kept = {}
        self._graph = printed.ir_graph()

    def node(self, node: Any, parts: set[Any]) -> str:
        """Returns the text of a node."""
        return "\n".join(self._node(node, parts))

    def _node(self, node: Any, parts: set[Any]) -> list[str]:
        name, kind = node.get_name(), type(node).__name__
        extra = type(node).debug_str_extra.__qualname__.partition(".")[0]
        parts.add((kind, extra))
        is_fused = extra == "FusedSchedulerNode"
        of = ",".join([type(member).__name__ for member in node.snodes]) if is_fused else type(node.node).__name__
        reads, unmet = node.read_writes.reads, node.unmet_dependencies
        lines = [
            f"{name}: {kind}({of})",
            f"{name}.writes = {self._dependencies(node.read_writes.writes, parts)}",
            f"{name}.unmet_dependencies = {self._dependencies(unmet, parts)}",
            f"{name}.met_dependencies = {self._dependencies([dependency for dependency in reads if dependency not in unmet], parts)}",
            f"{name}.min_input_distance = {node.min_input_distance}",
            f"{name}.max_input_distance = {node.max_input_distance}",
            f"{name}.outputs = [",
            *[f"    {self._of(self._buffer, buffer, parts)}" for buffer in node.get_outputs()],
            "]",
        ]
        if is_fused:
            for i, member in enumerate(node.snodes):
                lines.append(f"{name}.snodes[{i}] =")
                lines += self._node(member, parts)
            if node.snodes[0].node is not None:
                lines += node._debug_str_for_device()
        elif extra == "SchedulerNode":
            self._add_loops(node, name, lines, parts)
        elif extra == "ExternKernelSchedulerNode":
            lines.append(f"{name}.node.kernel = {getattr(node.node, 'python_kernel_name', None)}")
        elif extra != "BaseSchedulerNode":
            raise Unknown
        return lines

    def _add_loops(self, node: Any, name: str, lines: list[str], parts: set[Any]) -> None:
        """Adds the lines that are printed only for a loop node, such as its sizes and body."""
        lines += [
            f"{name}.group.device = {node.group[0]}",
            f"{name}.group.iteration = {self._listed(node.group[1])}",
            f"{name}.sizes = {self._listed(node._sizes)}",
        ]
        for dependency in node.read_writes.reads_and_writes():
            if type(dependency).__name__ != "WeakDep":
                buffer = self._graph.get_buffer(dependency.name)
                if type(buffer).__name__ == "TorchBindObject":
                    raise Unknown
                lines.append(f"{dependency.name}_layout = {self._of(self._layout, buffer.layout, parts)}")
        body = node._body
        parts.add(type(body).__name__)
        if type(body).__name__ != "LoopBody":
            raise Unknown
        lines.append(f"class {name}_loop_body:")
        lines.append(f"    var_ranges = {self._ranges(body.var_ranges.items())}")
        lines += [f"    {key} = {self._expression(value)}" for key, value in body.indexing_exprs.items()]
        for key, block in (("body", body.root_block), *body.subblocks.items()):
            lines.append(f"    def {key}(self, ops):")
            _add_statements(list(block.graph.nodes), lines, parts)
        lines += node._debug_str_for_device()

    def _of(self, make: Callable[[Any, set[Any]], str], value: Any, parts: set[Any], kept: _Kept | None = None) -> str:
        """Returns the text that `make` returns for an object. `make` is called only once for each object."""
        kept = self._kept if kept is None else kept
        entry = kept.get(id(value))
        if entry is None:
            its: set[Any] = set()
            entry = kept[id(value)] = value, make(value, its), its
        if not entry[2] <= parts:
            parts |= entry[2]
        return entry[1]

    def _buffer(self, buffer: Any, parts: set[Any]) -> str:
        """Returns the lines about a buffer, as they are in the text of the node that writes the buffer."""
        name = buffer.get_name()
        lines = [f"{name}: {type(buffer.node).__name__}"]
        lines.append(f"{name}.layout = {self._of(self._layout, buffer.node.layout, parts)}")
        for key, others in (("aliases", buffer.get_aliases()), ("mutations", buffer.get_mutations())):
            if others:
                parts.add((key, type(others).__name__))
                text = repr(others)
                if type(others) is not list or len(text) > _WIDTH:
                    raise Unknown
                lines.append(f"{name}.{key} = {text}")
        users = [
            f"NodeUser(node={user.node!r}, can_inplace={user.can_inplace}, is_weak={user.is_weak})"
            for user in buffer.users
        ]
        if len(users) <= 1:
            lines.append(f"{name}.users = [{''.join(users)}]")
        else:
            lines += [f"{name}.users = [", *[f"    {user}," for user in users], "]"]
        parts.add((type(buffer).__name__, min(len(users), 2)))
        return "\n    ".join(lines)

    def _layout(self, layout: Any, parts: set[Any]) -> str:
        kind = type(layout).__name__
        parts.add(kind)
        if kind not in _LAYOUTS or getattr(layout, "is_pinned", False) or layout.offset != 0:
            return str(layout)
        device = layout.device
        place = device.type if device.index is None else f"{device.type}:{device.index}"
        size, stride = self._listed(layout.size), self._listed(layout.stride)
        return f"{kind}('{place}', {layout.dtype}, size={size}, stride={stride})"

    def _dependencies(self, some: Iterable[Any], parts: set[Any]) -> str:
        """Returns the text of a set of dependencies in the format of `pprint`, indented as by Inductor."""
        texts = sorted([self._of(self._dependency, dependency, parts, self._kept_dependencies) for dependency in some])
        parts.add(min(len(texts), 2))
        text = f"[{', '.join(texts)}]"
        if len(text) <= _WIDTH:
            return text
        parts.add(("long", min(len(texts), 2)))
        if len(texts) == 1:
            return f"[   {text[1:-1]}]"
        return "\n    [   " + ",\n        ".join(texts) + "]"

    def _dependency(self, dependency: Any, parts: set[Any]) -> str:
        kind = type(dependency).__name__
        parts.add(kind)
        if kind == "MemoryDep":
            mode = "" if dependency.mode is None else f", {dependency.mode}"
            ranges = self._ranges(zip(dependency.var_names, dependency.size, strict=True))
            return f"MemoryDep({dependency.name!r}, {self._expression(dependency.index)}, {ranges}{mode})"
        text = str(dependency)
        if kind not in ("StarDep", "WeakDep") or len(text) > _WIDTH // 2:  # `pprint` may break a longer text
            raise Unknown
        return text

    def _ranges(self, ranges: Iterable[tuple[Any, Any]]) -> str:
        """Returns the text of a mapping from variables to their sizes, `{p0: 8, p1: 4}`."""
        text, known = self._expression, self._expressions
        pairs = [
            f"{known.get(id(index)) or text(index)}: {known.get(id(size)) or text(size)}" for index, size in ranges
        ]
        return f"{{{', '.join(pairs)}}}"

    def _listed(self, value: Any) -> str:
        """Returns the text of sizes, which may be nested in tuples and lists."""
        if type(value) is tuple:
            listed = [self._listed(item) for item in value]
            return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"
        text, known = self._expression, self._expressions
        if type(value) is list:
            return f"[{', '.join([known.get(id(item)) or text(item) for item in value])}]"
        return known.get(id(value)) or text(value)

    def _expression(self, expression: Any) -> str:
        """Returns the text of a SymPy expression. Texts are cached by `id`, because equal expressions can have
        different texts (2 and 2.0)."""
        printed = self._expressions.get(id(expression))
        if printed is None:
            self._alive.append(expression)
            printed = (sympy_text.text(expression) if self._is_usual else None) or str(expression)
            self._expressions[id(expression)] = printed
        return printed


def _add_statements(nodes: list[Any], lines: list[str], parts: set[Any]) -> None:
    """Adds the printed statements of a loop's body, for the few kinds of nodes that nearly all bodies consist of."""
    is_node = type(nodes[0])
    for node in nodes:
        op, target = node.op, node.target
        arguments = [argument.name if type(argument) is is_node else _literal(argument) for argument in node.args]
        if op == "call_method" and arguments:
            lines.append(f"        {node.name} = {arguments.pop(0)}.{target}({', '.join(arguments)})")
        elif op == "call_module" and target.isidentifier():
            lines.append(f"        {node.name} = self.{target}({', '.join(arguments)})")
        elif op == "call_function" and target is getitem and len(arguments) == 2:
            lines.append(f"        {node.name} = {arguments[0]}[{arguments[1]}]")
        elif op == "output" and len(arguments) == 1:
            lines.append(f"        return {arguments[0]}")
        elif op != "placeholder" or target != "ops" or arguments:
            raise Unknown
        if node.kwargs or node.type is not None:
            raise Unknown
        parts.add(op)


def _literal(value: Any) -> str:
    kind = type(value)
    if (
        kind is int
        or (kind is str and ";" not in value)
        or kind is bool
        or value is None
        or (kind is float and isfinite(value))
        or kind.__name__ == "dtype"
    ):
        return repr(value)
    raise Unknown


def _makes_known_text(kind: type) -> bool:
    """True if the printing functions for nodes of this kind use only names in `_USED`, so that this module can know
    their text."""
    functions = [*printed.ir_part_functions(), getattr(kind, "debug_str", None), getattr(kind, "debug_str_extra", None)]
    codes = [getattr(function, "__code__", None) for function in functions]
    return printed.ir_user_fields() == _USER and all(
        code is not None and all(_USED.issuperset(nested.co_names) for nested in names.nested_codes(code))
        for code in codes
    )
