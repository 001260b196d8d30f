"""Inductor's output code that is loaded in the process: its functions, and the stack traces that PyTorch keeps for
their lines."""

from __future__ import annotations

import gc
import sys
import types

from depyf.compat import private
from depyf.compat.private import guarded

_LINEMAPS = "torch._inductor.codecache:PyCodeCache.linemaps"
_FUNCTIONS = ("call", "partition_")


def is_inductor_loaded() -> bool:
    """True if the program has imported `torch._inductor.codecache`, the module that loads output code."""
    return "torch._inductor.codecache" in sys.modules


@guarded(list)
def functions() -> list[types.FunctionType]:
    """Returns every living function of output code that runs a graph or a part of a graph.

    The functions of output code are searched among all objects of the process, because the loaded modules do not
    contain all of these functions: a graph that is compiled again to the same text replaces the module of the earlier
    compilation, whose functions may still run.
    """
    maps = private.get(_LINEMAPS)
    if not maps:
        return []
    return [
        value
        for value in gc.get_objects()
        if type(value) is types.FunctionType
        and value.__name__.startswith(_FUNCTIONS)
        and value.__globals__.get("__file__") in maps
    ]


def functions_of(module: types.ModuleType) -> list[types.FunctionType]:
    """Returns the functions of one module of output code that run a graph or a part of a graph."""
    members: list[types.FunctionType] = []
    for name, value in list(vars(module).items()):
        function = getattr(value, "__func__", value)  # From PyTorch 2.9 on, the value is a bound method.
        if type(function) is types.FunctionType and name.startswith(_FUNCTIONS) and function not in members:
            members.append(function)
    return members


@guarded(list)
def stacks(path: str) -> list[tuple[int, str]]:
    """Returns the lines of a file of output code at which the code of another operator begins, each with the operator's
    stack as the text of a traceback. Output code from a cache may have no stacks."""
    linemap = (private.get(_LINEMAPS) or {}).get(path) or []
    if len(linemap) != 2:
        return []
    return [
        (line, stack) for line, stack in zip(*linemap, strict=True) if isinstance(line, int) and isinstance(stack, str)
    ]
