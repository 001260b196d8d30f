"""Finds the line of the user's source at which a resume function continues."""

from __future__ import annotations

import ast
import linecache
import re
import textwrap
import types

from depyf import function_names, names

_OFFSET = re.compile(r"^__resume_at_(\d+)_\d+")
_MARK = "  # <== resume in this line"


def line_of(name: str, code: types.CodeType, user: types.CodeType) -> int | None:
    """Returns the line at which a resume function continues; None if the names that Dynamo chose do not contain the
    line.

    Args:
        name: the name of the global variable through which transformed code calls the resume function.
        code: the code of the resume function.
        user: the code of the user's function that the resume function continues.
    """
    line = function_names.resume_line(code.co_name)
    if line is None or not _has_line(user, code.co_filename, line):
        return line
    match = _OFFSET.match(name)
    offset = int(match[1]) if match else -1
    exact = next((line for start, end, line in user.co_lines() if start <= offset < end), None)
    # A graph break at a conditional jump has two resume functions, which continue at lines other than the line of the
    # break.
    return exact if exact is not None and exact >= line else line


def marked(function: str, user: types.CodeType, file: str, line: int | None) -> str:
    """Returns the source of the user's function; a comment marks the line at which a resume function continues.

    Args:
        function: the source of `user`.
        user: the code of the function that the resume function continues.
        file: the file of the resume function, which differs from the file of `user` if the graph break was in an
            inlined function.
    """
    first = user.co_firstlineno
    if line is not None and not _has_line(user, file, line):
        inner = _function_at(file, line)
        if inner is not None:
            first, function = inner
    lines = function.splitlines()
    if line is not None and 0 <= line - first < len(lines) and not function.startswith("# Decompiled"):
        lines[line - first] += _MARK
    elif line is not None:
        lines.append(f"# It goes on at line {line}.{_MARK}")
    return "\n".join(lines)


def _has_line(user: types.CodeType, file: str, line: int) -> bool:
    return file == user.co_filename and any(
        line == own for code in names.nested_codes(user) for _, _, own in code.co_lines()
    )


def _function_at(file: str, line: int) -> tuple[int, str] | None:
    """Returns (first line, source) of the innermost function of a file around a line; None if no function contains the
    line."""
    lines = linecache.getlines(file)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    best: tuple[int, int] | None = None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            end = node.end_lineno or start
            if start <= line <= end and (best is None or start >= best[0]):
                best = (start, end)
    if best is None:
        return None
    return best[0], textwrap.dedent("".join(lines[best[0] - 1 : best[1]])).rstrip()
