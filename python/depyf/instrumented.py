"""Code that runs for a while in the place of the same code with ranges of the profiler in it.

What replaces the code of functions for other reasons works on the code without ranges, and tells afterwards that it has
replaced it, so that the ranges are put into the new code.
"""

from __future__ import annotations

import types
from collections.abc import Callable

from depyf import weak

_plain: weak.Table[types.CodeType] = weak.Table()
"""Code with ranges -> the code without. It needs no lock, because each write is one assignment; nobody clears it, as an entry
goes with its code, and a forked child goes on with its copy."""
listeners: list[Callable[[types.FunctionType], None]] = []
"""Each is called with a function whose code was replaced. Additions and removals are one operation each, so that no lock is
needed; a profile clears its own, and a forked child goes on with its copy."""


def note(code: types.CodeType, without: types.CodeType) -> None:
    """Records that `code` is `without` with ranges in it."""
    _plain.set(code, without)


def plain(function: types.FunctionType) -> types.CodeType:
    """Returns the code of a function without ranges."""
    code = function.__code__
    return _plain.get(code) or code


def replace(function: types.FunctionType, code: types.CodeType) -> None:
    """Replaces the code of a function, and lets listeners put ranges into it."""
    function.__code__ = code
    for listener in list(listeners):
        listener(function)
