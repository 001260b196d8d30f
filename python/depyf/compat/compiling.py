"""Keeping Dynamo from compiling: what is compiled runs, what is not runs as it was written.

Relied on: `torch._dynamo.convert_frame.CatchErrorsWrapper`, whose instances Dynamo calls for a frame that no cache entry
fits; `torch._dynamo.types.ConvertFrameReturn` with `apply_to_code`, `FrameExecStrategy` and `FrameAction`, by which it is
told how to run such a frame this time (PyTorch 2.7 and later); `torch._dynamo.trace_rules.check` and
`convert_frame.has_tensor_in_frame`, which tell what Dynamo would leave alone anyway. Where one is missing nothing is held
back.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from depyf.compat.dynamo import not_compiled

Miss = Callable[[types.CodeType, dict[str, Any]], None]


def hold_back(tell: Miss) -> Callable[[], None] | None:
    """Has Dynamo compile nothing that this thread calls. Returns what takes that away; None where it cannot be done.

    `tell(code, locals)` is called with each function that would have been compiled; it must not raise.
    """
    convert_frame = sys.modules.get("torch._dynamo.convert_frame")
    if convert_frame is None:  # Dynamo is not loaded: nothing has been compiled
        return None
    try:
        from torch._dynamo import trace_rules
        from torch._dynamo.types import ConvertFrameReturn, FrameAction, FrameExecStrategy

        wrapper = convert_frame.CatchErrorsWrapper
        original = wrapper.__dict__["__call__"]
        has_tensor = convert_frame.has_tensor_in_frame
        alone = ConvertFrameReturn(FrameExecStrategy(FrameAction.SKIP, FrameAction.DEFAULT), apply_to_code=False)
        with_callees = ConvertFrameReturn(FrameExecStrategy(FrameAction.SKIP, FrameAction.SKIP), apply_to_code=False)
    except (ImportError, AttributeError, KeyError, TypeError):
        return None
    thread = threading.get_ident()

    def call(self: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != thread:
            return original(self, frame, *args, **kwargs)
        if trace_rules.check(frame.f_code) or not has_tensor(frame):
            return alone
        tell(frame.f_code, dict(frame.f_locals))
        return with_callees

    held = not_compiled(call)

    def replacement(self: Any, *args: Any, **kwargs: Any) -> Any:
        return held(self, *args, **kwargs)

    wrapper.__call__ = replacement

    def remove() -> None:
        if wrapper.__dict__.get("__call__") is replacement:  # nobody else has replaced it since
            wrapper.__call__ = original

    return remove
