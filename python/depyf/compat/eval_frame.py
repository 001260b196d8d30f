"""Dynamo's eval frame callback, which sees every Python function that is called while it is set.

Where it cannot be set, or torch has not been imported, nothing is done: then Dynamo may compile code of depyf, which
costs time and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from depyf.compat import private

_set: Callable[[Any], Any] | None = None
"""The function that sets the callback. It is looked up beforehand, as the lookup runs Python code too, which Dynamo
would look at: `leave_alone` sets it when a `depyf.step` block begins. It has no lock, as all threads set the same
value. A call that raises an exception clears it; a forked child goes on with its copy."""


def off() -> Any:
    """Takes the callback of this thread away until `restore`, which gets what this returns: `set_eval_frame(None)`."""
    if _set is None:
        return None
    try:
        return _set(None)
    except Exception as error:
        _give_up(error)
        return None


def restore(before: Any) -> None:
    """Puts back what `off` took away."""
    if before is not None and _set is not None:
        try:
            _set(before)
        except Exception as error:
            _give_up(error)


def _give_up(error: Exception) -> None:
    global _set
    _set = None
    private.blame(error, off.__code__)


def leave_alone(*functions: Callable[..., Any]) -> None:
    """Keeps Dynamo from ever compiling these functions, as they run before they could call `off`. Is to be called
    before they run."""
    global _set
    _set = private.get("torch._C._dynamo.eval_frame:set_eval_frame")
    pass_over(*functions)


def pass_over(*functions: Callable[..., Any]) -> None:
    """Keeps Dynamo from compiling these functions, and from counting them among the frames that it looked at."""
    for function in functions:
        private.call("torch._dynamo.eval_frame:skip_code", getattr(function, "__code__"))  # noqa: B009


def current() -> Any:
    """Returns the callback that is set in this thread; None where there is none or it cannot be asked for."""
    return private.call("torch._C._dynamo.eval_frame:get_eval_frame_callback")
