"""Dynamo's eval frame callback, which sees every Python function that is called while it is set.

Relied on: `torch._C._dynamo.eval_frame.set_eval_frame`, with None for no callback, which returns the one before; and
`torch._dynamo.eval_frame.skip_code`, which has Dynamo leave a function alone. Where they are missing, or torch has not
been imported, nothing is done: then Dynamo may compile code of depyf, which costs time and no more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def _module() -> Any:
    # Not imported: what runs without torch must not begin to need it.
    return sys.modules.get("torch._C._dynamo.eval_frame")


def off() -> Any:
    """Takes the callback of this thread away until `restore`, which gets what this returns."""
    module = _module()
    return None if module is None else module.set_eval_frame(None)


def restore(before: Any) -> None:
    """Puts back what `off` took away."""
    if before is not None:
        _module().set_eval_frame(before)


def leave_alone(*functions: Callable[..., Any]) -> None:
    """Has Dynamo never compile these functions themselves, as they run before they can call `off`."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    skip = getattr(dynamo, "skip_code", None) or getattr(_module(), "skip_code", None)
    if skip is not None:
        for function in functions:
            skip(getattr(function, "__code__"))  # noqa: B009


def current() -> Any:
    """The callback that is set in this thread; None where there is none or it cannot be asked for."""
    get = getattr(_module(), "get_eval_frame_callback", None)
    return None if get is None else get()
