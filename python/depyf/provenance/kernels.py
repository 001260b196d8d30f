"""Inductor's output code: which kernel writes which buffer.

A kernel is called with the buffers that it writes among its arguments, and nothing reads a buffer before it is written:
the first call that names a buffer is the one that writes it. Allocations and other names for the same memory
(`buf1 = buf0`, `reinterpret_tensor`, `empty_strided_cpu`) are no such calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMMENT = re.compile(r"#[^\n'\"]*$", re.MULTILINE)
_BUFFER = re.compile(r"\bbuf\d+\b")
_ALLOCATES = ("empty_strided", "empty", "alloc", "reinterpret_tensor", "assert_", "as_strided")


@dataclass(frozen=True)
class Call:
    """One call of a kernel or of a library."""

    name: str
    """`cpp_fused_gelu_1`, `extern_kernels.addmm`."""
    line: int
    """Of the output code, from 1."""
    buffers: tuple[str, ...]
    """In its arguments, and what its result is bound to."""


@dataclass(frozen=True)
class Kernels:
    """What output code calls."""

    calls: tuple[Call, ...]
    writer: dict[str, Call]
    """The call that writes a buffer."""
    definitions: dict[str, int]
    """The line of the output code at which a kernel is defined."""


def read(code: str) -> Kernels:
    """Of one direction. Empty if the code is not Python, as that of the C++ wrapper is not."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Kernels((), {}, {})
    definitions = {
        node.targets[0].id: node.lineno
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _makes_kernel(node.value)
    }
    calls: list[Call] = []
    writer: dict[str, Call] = {}
    lines = code.split("\n")
    for function in _wrappers(tree):
        for statement in _statements(function):
            if isinstance(statement, (ast.Expr, ast.Assign)) and isinstance(statement.value, ast.Call):
                name = _dotted(statement.value.func)
                if name.rpartition(".")[2].startswith(_ALLOCATES):
                    continue
                text = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
                buffers = tuple(dict.fromkeys(_BUFFER.findall(_COMMENT.sub("", text))))
                if buffers:
                    calls.append(Call(name.removesuffix(".run"), statement.lineno, buffers))
    calls.sort(key=lambda one: one.line)
    for call in calls:
        for buffer in call.buffers:
            writer.setdefault(buffer, call)
    return Kernels(tuple(calls), writer, definitions)


def _makes_kernel(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and _dotted(value.func).startswith("async_compile.")


def _dotted(function: ast.expr) -> str:
    """What is called, `extern_kernels.mm`."""
    if isinstance(function, ast.Name):
        return function.id
    return f"{_dotted(function.value)}.{function.attr}" if isinstance(function, ast.Attribute) else "?"


def _wrappers(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions that call the kernels, or parts of one that are called for a partition of the graph."""
    owners: list[ast.Module | ast.ClassDef] = [tree]
    owners += [one for one in tree.body if isinstance(one, ast.ClassDef)]
    for owner in owners:
        for one in owner.body:
            if isinstance(one, ast.FunctionDef) and (one.name == "call" or one.name.startswith("partition_")):
                yield one


def _statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    todo: list[ast.AST] = list(reversed(function.body))
    while todo:
        one = todo.pop()
        if isinstance(one, ast.stmt):
            yield one
        for field in ("finalbody", "orelse", "handlers", "body"):
            inner = getattr(one, field, None)
            todo += reversed(inner) if isinstance(inner, list) else ()
