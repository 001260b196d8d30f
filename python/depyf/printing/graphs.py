"""Prints a graph as PyTorch prints it, in a fifth of PyTorch's time.

The kinds of a graph's parts (functions, kinds of arguments, types of tensors) that can be printed are learned from
PyTorch's own text (see `learning`). PyTorch prints most graphs even if nothing uses the text.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import keyword
import os
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from depyf.compat import printed
from depyf.printing import sympy_text
from depyf.printing.learning import Learner, Unknown

_NAMES = re.compile(r"(?:[a-zA-Z_][0-9a-zA-Z_]*\n)*")
_NOT_NAMES = {*keyword.kwlist, *dir(builtins), "inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"}
_PLACE = re.compile(r'File "(.+)", line (\d+), in (.+)')
_NO_COMMENT = "\n# No stacktrace found for following nodes\n"
_DTYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "complex64": "c64"}
_DTYPES |= {
    "complex128": "c128",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint8": "u8",
    "bool": "b8",
}
_BETWEEN = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
}
_BETWEEN |= {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and_": "&", "or_": "|", "xor": "^"}
_OPERATORS = {"getitem": "{}[{}]", "neg": "-{}", **{name: f"{{}} {sign} {{}}" for name, sign in _BETWEEN.items()}}
_MOST_KEPT = 4096
_annotations: dict[Any, tuple[str, str]] = {}
"""Maps (sizes, dtype, layout, device, strides) of a tensor whose sizes are numbers to (its dtype, its annotation).
Nothing clears `_annotations`, which stops growing at `_MOST_KEPT` entries. `_annotations` has no lock, because threads
may write the same value at once; a forked child continues with its copy."""
_TENSORS = ("FakeTensor", "Tensor")
_INT = {int}
_SYMBOLS = ("SymInt", "SymFloat", "SymBool")
_WITHOUT_TEXT = ("NoneType", "tuple", "list", "immutable_list", "int", "float", "bool", "str")
_of_tensor = attrgetter("shape", "dtype", "layout", "device")
_BLANK = "\n        \n"
_NOTHING: list[Any] = []
_NOTES = {"custom", "recompute", "ac_graph_id", "is_wrapped"}  # keys of `meta` that change PyTorch's text
_CONSTANTS = ("int", "float", "bool", "NoneType", "str", "dtype", "device", "layout", "memory_format")


class Printer:
    """Prints graph modules, and learns which kinds of parts it can print."""

    def __init__(self) -> None:
        self._learner = Learner()

    def text(self, module: Any, own: Callable[[], str], *, simple: bool, expanded: bool) -> str:
        """Returns the text of a graph module.

        Args:
            own: returns the text that PyTorch prints.
            simple: True if PyTorch prints expressions in its simpler form.
            expanded: True if each argument has a line of its own.
        """
        return self._learner.text(lambda parts: _Graph(module, simple, expanded, parts).text(), own)


class _Graph:
    """The state of printing one graph module."""

    def __init__(self, module: Any, simple: bool, expanded: bool, parts: set[Any]) -> None:
        self._module, self._graph = module, module.graph
        self._simple, self._expanded = simple, expanded
        self._parts = parts
        self._node_type: Any = None
        parts |= {("simple", simple), ("expanded", expanded)}

    def text(self) -> str:
        codegen = self._graph._codegen
        shown = os.environ.get("FX_GRAPH_SHOW_META", "0") == "1"
        if (
            shown
            or codegen._body_transformer
            or any(hasattr(child, "print_readable") for child in self._module.children())
        ):
            raise Unknown
        if type(codegen).__module__ != "torch.fx.graph":
            raise Unknown
        self._parts.add(type(codegen).__name__)
        nodes = list(self._graph.nodes)
        self._node_type = type(nodes[0])
        names = {node.name for node in nodes}
        if len(names) < len(nodes) or names & _NOT_NAMES or not _NAMES.fullmatch("\n".join([*names, ""])):
            raise Unknown  # PyTorch prints nodes with duplicate or reserved names under other names.
        arguments, body = self._body(nodes)
        head = _call(codegen.gen_fn_def, arguments, "", expanded_def=self._expanded)
        inner = "".join(body).lstrip("\n").replace("\n", "\n    ")
        text = f"class {type(self._module).__name__}(torch.nn.Module):\n{head}\n    {inner}"
        if "# COUNTER:" in text:  # PyTorch removes such comments, which it uses as marks
            raise Unknown
        text = text.replace("\n", "\n    ")
        if not _indents_blank_lines():
            while _BLANK in text:
                text = text.replace(_BLANK, "\n\n")
            if text.endswith(_BLANK[:-1]):
                text = text.rstrip(" ")
        return text

    def _body(self, nodes: list[Any]) -> tuple[list[str], list[str]]:
        """Returns (the arguments with their annotations, the statements) of the function that PyTorch prints for the
        graph."""
        arguments: list[str] = []
        body: list[str] = []
        dead = _last_uses(nodes)
        comment = None
        parts = self._parts
        for node in nodes:
            op, meta, its_name = node.op, node.meta, node.name
            about = meta.get("desc") if self._expanded else None
            if op == "output":
                if node.type is not None:
                    raise Unknown
                parts.add((op, about is None))
                make = self._graph._codegen.generate_output
                body.append(_call(make, node.args[0], descs=about, repr_fn=self._argument) + "\n")
                continue
            annotation = self._annotation(node, meta)
            if op == "placeholder":
                if node.args:
                    raise Unknown
                arguments.append(f"{node.target}{annotation}{'' if about is None else f'  # {about}'}")
                name = node.target.replace("*", "")
                parts.add((op, name != its_name, about is None))
                if name != its_name:
                    body.append(f"{its_name} = {name}\n")
                continue
            if not _NOTES.isdisjoint(meta) and any(meta.get(key) not in ({}, None) for key in _NOTES):
                raise Unknown
            trace_comment = _comment(meta.get("stack_trace"))
            if trace_comment != comment:
                comment = trace_comment
                parts.add(("comment", trace_comment == _NO_COMMENT))
                body.append(trace_comment)
            unused = dead.get(node, _NOTHING)
            if not node.users:
                unused = [*unused, node]
            end = f";  {' = '.join([dead.name for dead in unused])} = None\n" if unused else "\n"
            body.append(f"{its_name}{annotation} = {self._value(node, op)}{end}")
        return arguments, body

    def _value(self, node: Any, op: str) -> str:
        """Returns the expression that a node computes."""
        target, argument, is_node = node.target, self._argument, self._node_type
        self._parts.add(op)
        listed = [item.name if type(item) is is_node else argument(item) for item in node.args]
        if op == "call_function":
            name, is_operator = _name(target)
            self._parts.add(name)
            if is_operator:
                return name.format(*listed)
        elif op == "call_method" and target.isidentifier():
            name = f"{listed.pop(0)}.{target}"
        elif op in ("call_module", "get_attr") and all(map(str.isidentifier, target.split("."))):
            name = f"self.{target}"
            if op == "get_attr":
                return name
        else:
            raise Unknown
        if node.kwargs:
            listed += [f"{key} = {argument(value)}" for key, value in node.kwargs.items()]
        return f"{name}({', '.join(listed)})"

    def _argument(self, value: Any) -> str:
        kind = type(value).__name__
        if kind == "Node":
            return str(value.name)
        self._parts.add(kind)
        if kind in _CONSTANTS:
            return repr(value)
        if kind == "tuple":
            listed = [self._argument(item) for item in value]
            return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"
        if kind in ("immutable_list", "list"):
            is_node = self._node_type
            return f"[{', '.join([item.name if type(item) is is_node else self._argument(item) for item in value])}]"
        raise Unknown

    def _annotation(self, node: Any, meta: dict[str, Any]) -> str:
        """Returns the annotation of a node's value."""
        value: Any = meta.get("val")
        if value is None and "val" not in meta:
            value = meta.get("tensor_meta" if "tensor_meta" in meta else "example_value")
        declared = node.type
        kind = type(value).__name__
        self._parts.add(("value", kind, declared is None))
        if declared is not None:
            # PyTorch prints the type of the value and not the declared type. A declared type that has to be imported
            # uses up a name that a node could have, which this printer does not support.
            known = isinstance(declared, type) and declared.__module__.partition(".")[0] in ("torch", "builtins")
            if not known or kind not in (*_TENSORS, *_SYMBOLS):
                raise Unknown
        if kind in _TENSORS:
            key = shape, dtype, layout, device, strides = (*_of_tensor(value), value.stride())
            # Symbolic sizes must not be compared, because a comparison can add guards.
            is_plain = _INT.issuperset(map(type, shape)) and _INT.issuperset(map(type, strides))
            parts_and_text = _annotations.get(key) if is_plain else None
            if parts_and_text is None:
                name, place = _dtype_and_device(dtype, layout, device)
                parts_and_text = name, f': "{name}{self._sizes(shape)}{self._sizes(strides)}{place}"'
                if is_plain and len(_annotations) < _MOST_KEPT:
                    _annotations[key] = parts_and_text
            self._parts.add(parts_and_text[0])
            return parts_and_text[1]
        if kind in _SYMBOLS:
            if self._simple and type(value.node.expr).__name__ != "Symbol":
                raise Unknown
            return f': "Sym({self._symbol(value)})"'
        if kind not in _WITHOUT_TEXT and (not isinstance(value, tuple) or kind == "TensorMetadata"):
            raise Unknown
        return ""

    def _sizes(self, sizes: Any) -> str:
        if _INT.issuperset(map(type, sizes)):
            return str([*sizes])
        return f"[{', '.join([str(size) if type(size) is int else self._symbol(size) for size in sizes])}]"

    def _symbol(self, size: Any) -> str:
        expression = size.node.expr
        if type(expression).__name__ == "Symbol":
            self._parts.add("symbol")
            return str(expression.name)
        self._parts.add("expression")
        return (sympy_text.text(expression) if sympy_text.is_right() else None) or str(size)


@functools.cache
def _indents_blank_lines() -> bool:
    """True if PyTorch prints spaces on blank lines, which not all releases do."""
    return printed.indents_blank_lines()


def _last_uses(nodes: list[Any]) -> dict[Any, list[Any]]:
    """Returns, for each node, the nodes whose values it uses for the last time."""
    last_uses: dict[Any, list[Any]] = {}
    seen: set[Any] = set()
    for user in reversed(nodes):
        for read in user.all_input_nodes:
            if read not in seen:
                seen.add(read)
                last_uses.setdefault(user, []).append(read)
    return last_uses


@functools.lru_cache(maxsize=256)
def _dtype_and_device(dtype: Any, layout: Any, device: Any) -> tuple[str, str]:
    """Returns the dtype and the device of a tensor, as PyTorch prints them."""
    if str(layout) != "torch.strided":
        raise Unknown
    return _DTYPES[str(dtype).removeprefix("torch.")], str(device)


@functools.lru_cache(maxsize=1024)
def _comment(stack: str | None) -> str:
    """Returns the comment that PyTorch prints in front of a node to name the node's source line."""
    lines = (stack or "").strip().split("\n")
    for i in reversed(range(len(lines) - 1)):
        place = _PLACE.fullmatch(lines[i].strip())
        if place:
            return f"\n# File: {place[1]}:{place[2]} in {place[3]}, code: {lines[i + 1].strip()}\n"
    return _NO_COMMENT


@functools.lru_cache(maxsize=1024)
def _name(target: Any) -> tuple[str, bool]:
    """Returns the printed name of a function, or the format of an operator, and True if it is an operator."""
    if target.__module__ == "_operator":
        return _OPERATORS[target.__name__], True
    name = printed.qualified_name(target)
    # PyTorch prints an import for a function of another module, which this printer does not support.
    if name is None or not re.match(r"torch\.(?!_dynamo\.|_inductor\.)", name):
        raise Unknown
    return name, False


def _call(method: Callable[..., str], *args: Any, **options: Any) -> str:
    """Calls a method of PyTorch with only those options that the method has in the installed release."""
    known = _parameters(method.__func__)  # type: ignore[attr-defined]
    return method(*args, **{key: value for key, value in options.items() if key in known})


@functools.lru_cache(maxsize=32)
def _parameters(function: Callable[..., str]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
