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
# A call in one line, with no more than calls in calls among its arguments: `buf1 = extern_kernels.mm(a, reinterpret_tensor(b, (2, 3)))`
_PLAIN = r"[^()'\"#\n]*"
_ARGUMENTS = rf"{_PLAIN}(?:\({_PLAIN}(?:\({_PLAIN}\){_PLAIN})*\){_PLAIN})*"
_CALL = re.compile(
    rf"\n(?P<indent>[ \t]+)(?P<text>(?:buf\d+ = )?(?P<name>[A-Za-z_][\w.]*)\({_ARGUMENTS}\))(?:  #.*)?(?=\n)", re.ASCII
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
        before = code.count("\n", 0, wrapper.start()) - 1
        text = f"if 1:\n{wrapper[0]}" if wrapper[1] else f"\n{wrapper[0]}"
        found = _calls(text)
        if found is None:
            return Kernels((), {})
        for name, line, written in found:
            buffers = tuple(dict.fromkeys(_BUFFER.findall(written)))
            if buffers and not name.rpartition(".")[2].startswith(_ALLOCATES):
                calls.append(Call(name.removesuffix(".run"), before + line, buffers))
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


def _calls(text: str) -> list[tuple[str, int, str]] | None:
    """(name, line, text) of each call that is a statement; None if the text is not Python."""
    found: list[tuple[str, int, str]] = []

    def plain(call: re.Match[str]) -> str:
        found.append((call["name"], call.string.count("\n", 0, call.start("text")) + 1, call["text"]))
        return f"\n{call['indent']}pass"

    tree = _parsed(_CALL.sub(plain, _PASSED_OVER.sub("\n", text)))
    if tree is None:
        found.clear()
        tree = _parsed(text)
    lines = text.split("\n")
    for statement in _statements(tree) if tree is not None else ():
        if isinstance(statement, (ast.Expr, ast.Assign)) and isinstance(statement.value, ast.Call):
            written = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
            found.append((_dotted(statement.value.func), statement.lineno, _COMMENT.sub("", written)))
    return None if tree is None else found


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
