"""Dynamo's eval frame callback, which receives every Python function that is called while it is set.

If the callback cannot be set, or torch has not been imported, the functions of this module do nothing: Dynamo may then
compile code of depyf, which only costs time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from depyf.compat import private

_set: Callable[[Any], Any] | None = None
"""PyTorch's function that sets Dynamo's eval frame callback; None before the function has been looked up. `leave_alone`
looks up PyTorch's function when a `depyf.step` block begins, because Dynamo would examine the Python code of a later
lookup. `_set` has no lock, as all threads set the same value. `_set` is cleared when a call of PyTorch's function
raises an exception; a forked child continues with its copy."""


def off() -> Any:
    """Removes the callback of this thread (`set_eval_frame(None)`), and returns the previous callback for `restore`."""
    if _set is None:
        return None
    try:
        return _set(None)
    except Exception as error:
        _give_up(error)
        return None


def restore(before: Any) -> None:
    """Restores the callback that `off` removed."""
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
    """Keeps Dynamo from ever compiling `functions`, which run before `off` can be called. `leave_alone` must be called
    before `functions` run."""
    global _set
    _set = private.get("torch._C._dynamo.eval_frame:set_eval_frame")
    pass_over(*functions)


def pass_over(*functions: Callable[..., Any]) -> None:
    """Keeps Dynamo from compiling `functions`, and from counting them among the frames that it examined."""
    for function in functions:
        private.call("torch._dynamo.eval_frame:skip_code", getattr(function, "__code__"))  # noqa: B009


def current() -> Any:
    """Returns the callback of this thread; None if no callback is set, or if the callback cannot be read."""
    return private.call("torch._C._dynamo.eval_frame:get_eval_frame_callback")
