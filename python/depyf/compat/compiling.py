"""Keeps Dynamo from compiling: functions that are already compiled run compiled, and all others run eagerly.

For a frame that fits no cache entry, Dynamo calls an object of the class `CatchErrorsWrapper`, whose result decides how
the frame runs this time (PyTorch 2.7 and later). Two functions of PyTorch, `check` and `has_tensor_in_frame`, decide
which frames Dynamo skips in any case. If a private name that this module uses is missing, Dynamo compiles as usual.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from depyf.compat import private
from depyf.compat.dynamo import not_compiled
from depyf.compat.private import guarded

Miss = Callable[[types.CodeType, dict[str, Any]], None]


@guarded()
def _ways() -> tuple[Any, Any] | None:
    """Returns a pair: the result that makes Dynamo run a frame eagerly, and the result that also makes Dynamo run all
    functions eagerly that the frame calls. Returns None if the installed PyTorch lacks one of the classes from which
    the pair is created."""
    answer = private.get("torch._dynamo.types:ConvertFrameReturn")
    action = private.get("torch._dynamo.types:FrameAction")
    strategy = private.get("torch._dynamo.types:FrameExecStrategy")
    if None in (answer, action, strategy):
        return None
    return (
        answer(strategy(action.SKIP, action.DEFAULT), apply_to_code=False),
        answer(strategy(action.SKIP, action.SKIP), apply_to_code=False),
    )


def hold_back(tell: Miss) -> Callable[[], None] | None:
    """Keeps Dynamo from compiling anything that this thread calls. Returns a function that allows compilations again;
    None if Dynamo is not loaded, or if compilations cannot be prevented.

    `tell(code, locals)` is called with each function that would have been compiled; `tell` must not raise an exception.
    """
    if "torch._dynamo.convert_frame" not in sys.modules:  # Dynamo is not loaded, so nothing has been compiled.
        return None
    wrapper = private.get("torch._dynamo.convert_frame:CatchErrorsWrapper")
    original = private.get("torch._dynamo.convert_frame:CatchErrorsWrapper.__call__")
    check = private.get("torch._dynamo.trace_rules:check")
    has_tensor = private.get("torch._dynamo.convert_frame:has_tensor_in_frame")
    ways = _ways()
    if ways is None or None in (wrapper, original, check, has_tensor):
        return None
    # `original` must be the class's own method, because calls of other threads are passed on to `original`, and
    # `remove` assigns it to the class again.
    if vars(wrapper).get("__call__") is not original:
        private.not_found("torch._dynamo.convert_frame:CatchErrorsWrapper.__call__", "not as its class has it")
        return None
    alone, with_callees = ways
    thread = threading.get_ident()

    @guarded()
    def way(frame: Any) -> Any:
        if check(frame.f_code) or not has_tensor(frame):
            return alone
        tell(frame.f_code, dict(frame.f_locals))
        return with_callees

    def call(self: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != thread:
            return original(self, frame, *args, **kwargs)
        result = way(frame)
        return original(self, frame, *args, **kwargs) if result is None else result

    held = not_compiled(call)

    def replacement(self: Any, *args: Any, **kwargs: Any) -> Any:
        return held(self, *args, **kwargs)

    wrapper.__call__ = replacement

    def remove() -> None:
        if wrapper.__dict__.get("__call__") is replacement:  # No other code has replaced the method since.
            wrapper.__call__ = original

    return remove
