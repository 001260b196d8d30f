"""Hearing of calls of functions of PyTorch that has no hook for them, and that others import by name.

The function object has to stay, so its code object is replaced, and put back.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from depyf import _core
from depyf.compat.dynamo import not_compiled

Call = Callable[[tuple[Any, ...], dict[str, Any], str], Any]

_answers: dict[tuple[str, int], Callable[..., Any]] = {}
"""The place of a function -> the answer for its calls. Each write is one assignment, so that it needs no lock;
`take_away` clears an entry. A forked child goes on with its copy, as it has the interceptions too."""


class Interception:
    """A function of PyTorch whose calls another answers, from `set` to `take_away`.

    Args:
        function: where it is no plain function of Python, nothing is done.
        answer: gets the function as it was, under a second object; returns what answers a call: it gets the arguments
            and the name of the caller's module, and returns what the caller gets.
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
        # Under the name of torch's own file, which Dynamo does not look into.
        self._place = code.co_filename, code.co_firstlineno
        template = _template.__code__
        lines_down = code.co_firstlineno - template.co_firstlineno
        self._replacement = _core.moved(template, code.co_filename, lines_down, code.co_name)
        self._answer: Callable[..., Any] = answer(copy)

    def set(self, *, may_be_compiled: bool = False) -> None:
        """Puts the interception in place.

        Args:
            may_be_compiled: is it left to Dynamo whether it compiles the answer? Where it looks at nothing anyway.
        """
        if self._function is not None and self._function.__code__ is self._code:
            _answers[self._place] = self._answer if may_be_compiled else not_compiled(self._answer)
            self._function.__code__ = self._replacement

    def take_away(self) -> None:
        """Ends the interception."""
        if self._function is not None and self._function.__code__ is self._replacement:  # nobody else has replaced it
            self._function.__code__ = self._code
            del _answers[self._place]


def around(function: object, answer: Callable[[Callable[..., Any]], Call]) -> Callable[[], None]:
    """Lets another function answer the calls of a function; see `Interception`. Returns a function that ends this."""
    interception = Interception(function, answer)
    interception.set()
    return interception.take_away


# Runs with torch's globals, so that it has to import what it needs. It calls nothing of ours that Dynamo could compile.
def _template(*args, **kwargs):  # type: ignore[no-untyped-def]
    import sys

    # A variable with this frame would be a cycle, which keeps it and its callers' variables until a collection.
    caller = sys._getframe(1).f_globals.get("__name__")
    code = sys._getframe().f_code
    answer = sys.modules["depyf.compat.intercept"]._answers[code.co_filename, code.co_firstlineno]
    return answer(args, kwargs, str(caller))
