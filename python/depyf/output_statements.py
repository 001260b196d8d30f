"""The statements of Inductor's output code that compute values: calls of kernels and of libraries."""

from __future__ import annotations

import ast
from collections.abc import Callable

_NO_KERNELS = ("assert_", "empty_strided", "reinterpret_tensor", "_reinterpret", "copy_misaligned", "raise", "print")


def callee_of(statement: ast.stmt) -> str | None:
    """Returns the name of the kernel or library function that a statement calls; None if the statement computes no
    values."""
    if isinstance(statement, (ast.Expr, ast.Assign)) and isinstance(statement.value, ast.Call):
        called = ast.unparse(statement.value.func)
        name = called.rpartition(".")[2]
        if name in ("clear", "append", "item") or called.startswith(_NO_KERNELS) or name.startswith(_NO_KERNELS):
            return None
        return called.removesuffix(".run")
    return None


def replaced(body: list[ast.stmt], replace: Callable[[ast.stmt, str], list[ast.stmt]]) -> list[ast.stmt]:
    """Returns a list of statements in which each statement that computes a value is replaced by the statements that
    `replace(statement, callee)` returns.

    Statements in the bodies of `with`, `if` and loops are replaced in the given tree itself; the bodies of functions
    are not changed.
    """
    result: list[ast.stmt] = []
    for statement in body:
        for name in ("body", "orelse"):
            if isinstance(getattr(statement, name, None), list) and not isinstance(statement, ast.FunctionDef):
                setattr(statement, name, replaced(getattr(statement, name), replace))
        callee = callee_of(statement)
        result += [statement] if callee is None else replace(statement, callee)
    return result
