"""Intercepts calls of functions of PyTorch that have no hook, and that other modules import by name.

The function object has to stay, so its code object is replaced, and restored later.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from depyf import _core
from depyf.compat.dynamo import not_compiled

Call = Callable[[tuple[Any, ...], dict[str, Any], str], Any]

_answers: dict[tuple[str, int], Callable[..., Any]] = {}
"""(file, first line) of a function -> the answer for its calls. Each write is one assignment, so that it needs no lock;
`take_away` clears an entry. A forked child goes on with its copy, as it has the interceptions too."""


class Interception:
    """A function of PyTorch whose calls another function answers, from `set` to `take_away`.

    Args:
        function: the function. If it is not a plain Python function, nothing is done.
        answer: receives a copy of the original function, and returns the function that answers calls. That one gets the
            positional arguments, the keyword arguments, and the name of the caller's module, and returns the caller's
            result.
    """

    def __init__(self, function: object, answer: Callable[[Callable[..., Any]], Call]) -> None:
        self._function = function if isinstance(function, types.FunctionType) else None
        if self._function is None or self._function.__code__.co_freevars:
            self._function = None
            return
        self._code = code = self._function.__code__
        function = self._function
        copy = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
        copy.__kwdefaults__ = function.__kwdefaults__
        # The code has the file name of torch's own file, which Dynamo skips.
        self._place = code.co_filename, code.co_firstlineno
        template = _template.__code__
        lines_down = code.co_firstlineno - template.co_firstlineno
        self._replacement = _core.moved(template, code.co_filename, lines_down, code.co_name)
        self._answer: Callable[..., Any] = answer(copy)

    def set(self, *, may_be_compiled: bool = False) -> None:
        """Begins the interception.

        Args:
            may_be_compiled: true if Dynamo may compile the answer; for functions in whose frames Dynamo is not active
                anyway.
        """
        if self._function is not None and self._function.__code__ is self._code:
            _answers[self._place] = self._answer if may_be_compiled else not_compiled(self._answer)
            self._function.__code__ = self._replacement

    def take_away(self) -> None:
        """Ends the interception."""
        # Nobody else has replaced the code since.
        if self._function is not None and self._function.__code__ is self._replacement:
            self._function.__code__ = self._code
            del _answers[self._place]


def around(function: object, answer: Callable[[Callable[..., Any]], Call]) -> Callable[[], None]:
    """Lets another function answer the calls of a function; see `Interception`. Returns a function that ends this."""
    interception = Interception(function, answer)
    interception.set()
    return interception.take_away


# This code runs with torch's globals, so it imports what it needs. It calls no function of depyf that Dynamo could
# compile.
def _template(*args, **kwargs):  # type: ignore[no-untyped-def]
    import sys

    # A variable that holds this frame would be a cycle, which keeps the frame's and its callers' variables until a
    # collection.
    caller = sys._getframe(1).f_globals.get("__name__")
    code = sys._getframe().f_code
    answer = sys.modules["depyf.compat.intercept"]._answers[code.co_filename, code.co_firstlineno]
    return answer(args, kwargs, str(caller))
