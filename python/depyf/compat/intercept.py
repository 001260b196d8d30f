"""Hearing of calls of functions of PyTorch that has no hook for them, and that others import by name.

The function object has to stay, so its code object is replaced, and put back.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from depyf.compat.dynamo import not_compiled

Call = Callable[[tuple[Any, ...], dict[str, Any], str], Any]

# Name of a function -> what answers its calls.
_answers: dict[str, Callable[..., Any]] = {}


def around(function: object, answer: Callable[[Callable[..., Any]], Call]) -> Callable[[], None]:
    """Has calls of a function of PyTorch answered by another. Returns what takes that away.

    Args:
        function: where it is no plain function of Python, nothing is done.
        answer: gets the function as it was, under a second object; returns what answers a call: it gets the arguments
            and the name of the caller's module, and returns what the caller gets.
    """
    if not isinstance(function, types.FunctionType) or function.__code__.co_freevars:
        return lambda: None
    code = function.__code__
    copy = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    # Under the name of torch's own file, which Dynamo does not look into.
    replacement = _template.__code__.replace(co_name=code.co_name, co_filename=code.co_filename)
    _answers[code.co_name] = not_compiled(answer(copy))
    function.__code__ = replacement

    def remove() -> None:
        if function.__code__ is replacement:  # nobody else has replaced it since
            function.__code__ = code
            del _answers[code.co_name]

    return remove


# Runs with torch's globals, so that it has to import what it needs. It calls nothing of ours that Dynamo could compile.
def _template(*args, **kwargs):  # type: ignore[no-untyped-def]
    import sys

    frame = sys._getframe()
    caller = frame.f_back.f_globals.get("__name__")  # type: ignore[union-attr]
    return sys.modules["depyf.compat.intercept"]._answers[frame.f_code.co_name](args, kwargs, str(caller))
