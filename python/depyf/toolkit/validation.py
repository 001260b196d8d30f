"""Decides whether a code object can run in place of a function's own code object. PyTorch does not check a code object
that replaces another one, although an unsuitable code object would crash the process."""

from __future__ import annotations

import builtins
import inspect
import types
from typing import Any

from depyf import _core
from depyf.recompile import signature
from depyf.toolkit.target import Target, why_refused

# The flags of a code object that decide how a frame is created and left. All other flags either describe the source
# (such as its `from __future__` imports), or follow from the variables of the code object.
_KINDS = (
    (inspect.CO_GENERATOR, "a generator"),
    (inspect.CO_COROUTINE, "a coroutine"),
    (inspect.CO_ASYNC_GENERATOR, "an asynchronous generator"),
    (inspect.CO_ITERABLE_COROUTINE, "a generator that can be awaited"),
)


def check_code(code: object, target: Target) -> types.CodeType:
    """Returns `code` if it is a code object that a frame of the function `target` can run.

    Raises:
        ValueError: a frame of the function cannot run `code`; the message names the property that differs.
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
        raise ValueError(
            f"{target.name}: the code has {code.co_nlocals} local variables instead of at least {original.co_nlocals}"
        )
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
    """Returns the global names in `code` that are defined neither in the function's module, nor as a builtin of Python,
    nor in `bound`.

    A name also counts as defined if `code` itself assigns it, or if the function's own code or the code `known` uses
    it. `known` is the code that has run in place of the function so far.
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
