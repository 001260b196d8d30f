"""Intercepts calls of functions of PyTorch that have no hook, and that other modules import by name.

Other modules refer to an intercepted function object, so only its code object is replaced, and restored later.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from depyf import _core
from depyf.compat.dynamo import not_compiled

Call = Callable[[tuple[Any, ...], dict[str, Any], str], Any]

_answers: dict[tuple[str, int], Callable[..., Any]] = {}
"""Maps (file, first line) of an intercepted function to the function that answers its calls. The table needs no lock,
as each write is one assignment; the method `take_away` clears an entry. A forked child continues with its copy of the
table, because the functions are also intercepted in the child."""


class Interception:
    """Makes another function answer all calls of a function of PyTorch, from the call of `set` until the call of
    `take_away`.

    Args:
        function: the function to intercept; nothing is done if it is not a plain Python function.
        answer: receives a copy of the original function, and returns the function that answers calls. The function that
            answers a call receives the positional arguments, the keyword arguments and the name of the caller's module,
            and its result becomes the result of the call.
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
        # The replacement code has the file name of the original code, because Dynamo skips functions in torch's files.
        self._place = code.co_filename, code.co_firstlineno
        template = _template.__code__
        lines_down = code.co_firstlineno - template.co_firstlineno
        self._replacement = _core.moved(template, code.co_filename, lines_down, code.co_name)
        self._answer: Callable[..., Any] = answer(copy)

    def set(self, *, may_be_compiled: bool = False) -> None:
        """Begins the interception.

        Args:
            may_be_compiled: if false, the function that answers calls is marked so that Dynamo skips it; if true, the
                function is not marked. The function that answers calls need not be marked for Dynamo to skip if Dynamo
                is never active when the intercepted function runs.
        """
        if self._function is not None and self._function.__code__ is self._code:
            _answers[self._place] = self._answer if may_be_compiled else not_compiled(self._answer)
            self._function.__code__ = self._replacement

    def take_away(self) -> None:
        """Ends the interception."""
        # The original code is restored only if no other program has replaced the code in the meantime.
        if self._function is not None and self._function.__code__ is self._replacement:
            self._function.__code__ = self._code
            del _answers[self._place]


def around(function: object, answer: Callable[[Callable[..., Any]], Call]) -> Callable[[], None]:
    """Lets another function answer the calls of a function; see `Interception`. Returns a function that ends the
    interception."""
    interception = Interception(function, answer)
    interception.set()
    return interception.take_away


# The code of `_template` runs with the globals of PyTorch's function, so `_template` imports each module that it uses.
# The code of `_template` calls no function of depyf that Dynamo could compile.
def _template(*args, **kwargs):  # type: ignore[no-untyped-def]
    import sys

    # No local variable refers to the frame of `_template`: a reference from the frame to itself would keep the
    # variables of the frame and of its callers alive until the garbage collector runs.
    caller = sys._getframe(1).f_globals.get("__name__")
    code = sys._getframe().f_code
    answer = sys.modules["depyf.compat.intercept"]._answers[code.co_filename, code.co_firstlineno]
    return answer(args, kwargs, str(caller))
