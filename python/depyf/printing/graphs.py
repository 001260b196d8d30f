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
from typing import Any

from depyf import _core
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
_BLANK = "\n        \n"


class Printer:
    """Prints graph modules, and learns which kinds of parts it can print."""

    def __init__(self) -> None:
        self._learner = Learner()

    def text(self, module: Any, own: Callable[[], str], *, simple: bool, expanded: bool) -> str:
        """Returns the text of a graph module.

        Args:
            own: returns the text that PyTorch prints.
            simple: True if PyTorch prints expressions in its simpler form.
            expanded: True if PyTorch prints each argument on a line of its own.
        """
        return self._learner.text(lambda parts: _Graph(module, simple, expanded, parts).text(), own)


class _Graph:
    """The state of printing one graph module."""

    def __init__(self, module: Any, simple: bool, expanded: bool, parts: set[Any]) -> None:
        self._module, self._graph = module, module.graph
        self._simple, self._expanded = simple, expanded
        self._parts = parts
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
        names = {node.name for node in nodes}
        if len(names) < len(nodes) or names & _NOT_NAMES or not _NAMES.fullmatch("\n".join([*names, ""])):
            raise Unknown  # PyTorch prints nodes with duplicate or reserved names under other names.
        arguments, body = self._body(nodes)
        head = _call(codegen.gen_fn_def, arguments, "", expanded_def=self._expanded)
        inner = body.lstrip("\n").replace("\n", "\n    ")
        text = f"class {type(self._module).__name__}(torch.nn.Module):\n{head}\n    {inner}"
        if "# COUNTER:" in text:  # PyTorch removes comments with COUNTER, which it uses as marks.
            raise Unknown
        text = text.replace("\n", "\n    ")
        if not _indents_blank_lines():
            while _BLANK in text:
                text = text.replace(_BLANK, "\n\n")
            if text.endswith(_BLANK[:-1]):
                text = text.rstrip(" ")
        return text

    def _body(self, nodes: list[Any]) -> tuple[list[str], str]:
        """Returns (the arguments with their annotations, the statements) of the function that PyTorch prints for the
        graph."""
        make = self._graph._codegen.generate_output

        def output(value: Any, about: Any) -> str:
            return _call(make, value, descs=about, repr_fn=lambda part: _core.argument_text(part, self._parts))

        return _core.graph_statements(
            nodes,
            self._parts,
            self._simple,
            self._expanded,
            _comment,
            _name,
            _dtype_and_device,
            _expression,
            _is_usual_type,
            output,
        )


def _expression(number: Any) -> str:
    """Returns the text of a symbolic number."""
    return sympy_text.usual_text(number.node.expr) or str(number)


def _is_usual_type(declared: Any) -> bool:
    """True if PyTorch need not import anything to print a declared type. This printer does not support imports, because
    an import takes a name from the graph's namespace, so that a node with this name may be printed under another
    name."""
    return isinstance(declared, type) and declared.__module__.partition(".")[0] in ("torch", "builtins")


@functools.cache
def _indents_blank_lines() -> bool:
    """True if PyTorch prints spaces on blank lines, which not all releases do."""
    return printed.indents_blank_lines()


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
    """Returns the printed name of a function and False, or the format of an operator and True."""
    if target.__module__ == "_operator":
        return _OPERATORS[target.__name__], True
    name = printed.qualified_name(target)
    # PyTorch prints an import for a function that is outside of torch, or inside of `torch._dynamo` or
    # `torch._inductor`. This printer does not support imports.
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
