"""Decides whether a code object can replace another one, which PyTorch does not check, although a wrong code object
would crash the process."""

from __future__ import annotations

import builtins
import inspect
import types
from typing import Any

from depyf import _core
from depyf.recompile import signature
from depyf.toolkit.target import Target, why_refused

# The flags that decide how a frame is created and left. The remaining flags of a code object describe the source (`from
# __future__`), or follow from the variables.
_KINDS = (
    (inspect.CO_GENERATOR, "a generator"),
    (inspect.CO_COROUTINE, "a coroutine"),
    (inspect.CO_ASYNC_GENERATOR, "an asynchronous generator"),
    (inspect.CO_ITERABLE_COROUTINE, "a generator that can be awaited"),
)


def check_code(code: object, target: Target) -> types.CodeType:
    """Returns `code` if a frame of the target can run it.

    Raises:
        ValueError: a frame of the target cannot run `code`; the message names what differs.
        TypeError: `code` is not a code object.
    """
    if not isinstance(code, types.CodeType):
        raise TypeError(f"{target.name}: expected a code object, got {type(code).__name__}")
    if refused := why_refused(target.code):
        raise ValueError(refused)
    original = target.code
    for flag, kind in _KINDS:
        if (code.co_flags ^ original.co_flags) & flag:
            raise ValueError(f"{target.name}: the code is {kind}, the function is not")
    if not code.co_flags & inspect.CO_OPTIMIZED or not code.co_flags & inspect.CO_NEWLOCALS:
        raise ValueError(f"{target.name}: the code is the body of a module or class, not of a function")
    if _arguments(code) != _arguments(original):
        raise ValueError(f"{target.name}: the arguments differ: {signature(code)} instead of {signature(original)}")
    for part, mine, theirs in (
        ("free variables", code.co_freevars, original.co_freevars),
        ("cell variables", code.co_cellvars, original.co_cellvars),
    ):
        if mine != theirs:
            raise ValueError(f"{target.name}: the {part} differ: {_listed(mine)} instead of {_listed(theirs)}")
    if code.co_nlocals < original.co_nlocals:
        raise ValueError(f"{target.name}: {code.co_nlocals} locals instead of at least {original.co_nlocals}")
    if problem := _core.problem(code):
        function, words = problem
        raise ValueError(f"{target.name}: the bytecode of {function} is not sound: {words}")
    return code


def _arguments(code: types.CodeType) -> tuple[object, ...]:
    flags = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + bin(flags).count("1")
    return code.co_posonlyargcount, code.co_argcount, code.co_kwonlyargcount, flags, code.co_varnames[:count]


def _listed(variables: tuple[str, ...]) -> str:
    return f"({', '.join(variables)})" if variables else "none"


def unknown_names(code: types.CodeType, known: types.CodeType, target: Target, bound: dict[str, Any]) -> list[str]:
    """Returns the global names in `code` that neither the function's module, nor Python, nor `bound` defines.

    The names in `known`, which ran in place of the function before, count as defined, as do the names that `code`
    itself assigns.
    """
    known_names = {
        *_core.global_names(known),
        *_core.global_names(target.code),
        *_core.assigned_names(code),
        *bound,
        *target.globals,
        *vars(builtins),
    }
    return sorted(set(_core.global_names(code)) - known_names)
