"""Keeps track of functions whose code temporarily contains ranges of the profiler.

A module that replaces functions' code for a purpose other than profiling reads the code without profiler ranges through
`plain`. A module that replaces code passes the new code to `replace`, which lets the profiler insert its ranges into
the new code.
"""

from __future__ import annotations

import types
from collections.abc import Callable

from depyf import weak

_plain: weak.Table[types.CodeType] = weak.Table()
"""Maps code with ranges of the profiler to the code without them. `_plain` has no lock, because each write is one
assignment. An entry is removed when its code is freed, and nothing else clears `_plain`; a forked child continues with
its copy."""
listeners: list[Callable[[types.FunctionType], None]] = []
"""Callbacks: each callback is called with every function whose code was replaced. `listeners` has no lock, because an
addition or a removal is one operation. A profile clears its own callback from `listeners`; a forked child continues
with its copy."""


def note(code: types.CodeType, without: types.CodeType) -> None:
    """Records that `code` was derived from the code object `without` by inserting ranges of the profiler."""
    _plain.set(code, without)


def plain(function: types.FunctionType) -> types.CodeType:
    """Returns the code of a function without ranges of the profiler."""
    code = function.__code__
    return _plain.get(code) or code


def replace(function: types.FunctionType, code: types.CodeType) -> None:
    """Replaces the code of a function, and calls the listeners, which insert ranges of the profiler into new code."""
    function.__code__ = code
    for listener in list(listeners):
        listener(function)
