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
# A function that calls kernels, up to the next line that is not deeper; and its name, which is found many times as fast.
_WRAPPER_NAME = re.compile(r"def (?:call|partition_\w+)\(")
_WRAPPER = re.compile(r"^([ \t]*)def (?:call|partition_\w+)\(.*\n(?:(?:\1[ \t]+.*)?\n)+", re.MULTILINE)
# Of these nothing is asked; each is most often one line.
_PASSED_OVER = re.compile(
    r"\n[ \t]+(?:assert_size_stride\(|del |buf\d+ = (?:empty_strided\w*|reinterpret_tensor)\(|return \(|[\w, ]+ = args$|#).*(?=\n)",
    re.MULTILINE,
)
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


def read(code: str) -> Kernels:
    """Of one direction. Empty if the code is not Python, as that of the C++ wrapper is not."""
    calls: list[Call] = []
    writer: dict[str, Call] = {}
    # Only the wrappers are parsed: the text of the kernels in between can be long.
    for wrapper in _wrappers(code):
        before = code.count("\n", 0, wrapper.start())
        text = f"if 1:\n{wrapper[0]}" if wrapper[1] else f"\n{wrapper[0]}"
        tree = _parsed(_PASSED_OVER.sub("\n", text)) or _parsed(text)
        if tree is None:
            return Kernels((), {})
        lines = text.split("\n")
        for statement in _statements(tree):
            if isinstance(statement, (ast.Expr, ast.Assign)) and isinstance(statement.value, ast.Call):
                name = _dotted(statement.value.func)
                if name.rpartition(".")[2].startswith(_ALLOCATES):
                    continue
                written = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
                buffers = tuple(dict.fromkeys(_BUFFER.findall(_COMMENT.sub("", written))))
                if buffers:
                    calls.append(Call(name.removesuffix(".run"), before + statement.lineno - 1, buffers))
    calls.sort(key=lambda one: one.line)
    for call in calls:
        for buffer in call.buffers:
            writer.setdefault(buffer, call)
    return Kernels(tuple(calls), writer)


def _wrappers(code: str) -> Iterator[re.Match[str]]:
    done = 0
    for name in _WRAPPER_NAME.finditer(code):
        start = code.rfind("\n", 0, name.start()) + 1
        if start >= done and (found := _WRAPPER.match(code, start)) is not None:
            done = found.end()
            yield found


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _dotted(function: ast.expr) -> str:
    """What is called, `extern_kernels.mm`."""
    if isinstance(function, ast.Name):
        return function.id
    return f"{_dotted(function.value)}.{function.attr}" if isinstance(function, ast.Attribute) else "?"


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    todo: list[ast.AST] = [tree]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.stmt):
            yield one
            if isinstance(one, (ast.Expr, ast.Assign)):
                continue
        for field in ("finalbody", "orelse", "handlers", "body"):
            inner = getattr(one, field, None)
            todo += reversed(inner) if isinstance(inner, list) else ()
