"""Helper functions of the original depyf, under their original names. New code uses `depyf.decompile` and Python's own
functions instead of this module."""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable
from typing import Any

from depyf import decompiler, names

__all__ = [
    "collect_all_code_objects",
    "decompile_ensure",
    "get_code_owner",
    "get_function_signature",
    "safe_create_directory",
]


def get_function_signature(code_obj: types.CodeType, overwite_fn_name: str | None = None) -> str:
    """Returns the `def` line of a code object, without defaults; `overwite_fn_name` (sic) names the function."""
    count, keyword_only = code_obj.co_argcount, code_obj.co_kwonlyargcount
    variables = list(code_obj.co_varnames)
    arguments = variables[:count]
    if code_obj.co_posonlyargcount:
        arguments.insert(code_obj.co_posonlyargcount, "/")
    rest = variables[count + keyword_only :]
    has_rest = bool(code_obj.co_flags & 4)  # CO_VARARGS
    if has_rest:
        arguments.append(f"*{rest.pop(0)}")
    elif keyword_only:
        arguments.append("*")
    arguments += variables[count : count + keyword_only]
    if code_obj.co_flags & 8:  # CO_VARKEYWORDS
        arguments.append(f"**{rest.pop(0)}")
    return f"def {overwite_fn_name or code_obj.co_name}({', '.join(arguments)}):\n"


def collect_all_code_objects(code: types.CodeType) -> list[types.CodeType]:
    """Returns `code` and every code object among its constants, at any depth."""
    return list(names.nested_codes(code))


def safe_create_directory(path: str | os.PathLike[str]) -> None:
    """Creates a directory and its parent directories if they are missing.

    Raises:
        OSError: the directory cannot be created.
    """
    os.makedirs(path, exist_ok=True)


def get_code_owner(fn: Any) -> Any:
    """Returns the object behind a callable that has a `__code__`, found through methods, wrappers, `functools.partial`
    and `__call__`."""
    seen: set[int] = set()
    while id(fn) not in seen and not hasattr(fn, "__code__"):
        seen.add(id(fn))
        if hasattr(fn, "__func__"):
            fn = fn.__func__
        elif hasattr(fn, "__wrapped__"):
            fn = fn.__wrapped__
        elif isinstance(fn, functools.partial):
            fn = fn.func
        elif isinstance(getattr(fn, "__call__", None), types.MethodType):  # noqa: B004
            fn = fn.__call__
    return fn


def decompile_ensure(code: types.CodeType | Callable[..., Any], overwite_fn_name: str | None = None) -> str:
    """Returns the source of a code object, with the function name `overwite_fn_name` (sic) if that is given.
    Decompiling does not fail for any code object.

    Raises:
        TypeError: there is no Python code behind `code`.
    """
    return decompiler.source_of(decompiler.find_code(code), name=overwite_fn_name)
