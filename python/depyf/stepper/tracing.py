"""Receives events from `sys.settrace` (up to Python 3.11), and restores the previous trace function at the end."""

from __future__ import annotations

import dis
import sys
import types
from typing import Any

from depyf.compat import eval_frame
from depyf.stepper.engine import Engine

_YIELDS = frozenset(dis.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "SEND") if name in dis.opmap)


class Tracing:
    """Follows the functions that the engine wants to follow, in the thread that calls `start`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._before: Any = None
        self._started = False
        # The bound methods are stored, because each access would create a new object, and `stop` compares by identity.
        self._global, self._local = self._on_call, self._on_event

    def start(self) -> None:
        eval_frame.leave_alone(Tracing._on_call, Tracing._on_event)
        self._before = sys.gettrace()
        # A debugger can replace `sys.settrace` by a function of its own. The debugger's function is not followed,
        # because `_started` is still false.
        sys.settrace(self._global)
        self._started = True

    def stop(self) -> None:
        started, self._started = self._started, False
        # If another trace function has been set since `start`, that function stays set.
        if started and sys.gettrace() is self._global:
            sys.settrace(self._before)
        self._before = None

    # CPython calls no trace function while a trace function runs, so no function that a trace function calls is traced.

    def _on_call(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if not self._started:
            return None
        before = eval_frame.off()
        try:
            if not self._engine.wants(frame):
                return None
        finally:
            eval_frame.restore(before)
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._local

    def _on_event(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if not self._started:
            return None
        before = eval_frame.off()
        try:
            if event == "opcode":
                self._engine.instruction(frame, frame.f_lasti)
            elif event == "return" and frame.f_code.co_code[frame.f_lasti] not in _YIELDS:
                self._engine.left(frame)
        finally:
            eval_frame.restore(before)
        return self._local
