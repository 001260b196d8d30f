"""Receives events from `sys.monitoring` (3.12 and later), under a tool id that is free."""

from __future__ import annotations

import sys
import threading
import types
from typing import Any

from depyf.compat import eval_frame
from depyf.stepper.engine import Engine

_IDS = (4, 3, 5, 0, 1, 2)  # The tool ids without a predefined meaning come first.


class Monitoring:
    """Follows the functions that the engine wants to follow, in the thread that creates the `Monitoring` object."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = threading.get_ident()
        self._busy = False
        self._tool = -1
        self._followed: dict[int, types.CodeType] = {}

    def start(self) -> None:
        """Starts to receive events; raises RuntimeError if every tool id is taken."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        events = monitoring.events
        for tool in _IDS:
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "depyf.step")
                self._tool = tool
                break
        else:
            names = ", ".join(str(monitoring.get_tool(tool)) for tool in sorted(_IDS))
            raise RuntimeError(f"depyf.step needs a tool id of sys.monitoring, and all are taken: {names}")
        # The registered callbacks are bound methods of `Monitoring`. Dynamo must not compile the functions of the
        # registered methods.
        eval_frame.leave_alone(Monitoring._entered, Monitoring._instruction, Monitoring._left)
        for event, callback in self._callbacks(events).items():
            monitoring.register_callback(self._tool, event, callback)
        monitoring.set_events(self._tool, events.PY_START | events.PY_RESUME | events.PY_UNWIND)

    def stop(self) -> None:
        if self._tool < 0:
            return
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        monitoring.set_events(self._tool, 0)
        for code in self._followed.values():
            monitoring.set_local_events(self._tool, code, 0)
        for event in self._callbacks(monitoring.events):
            monitoring.register_callback(self._tool, event, None)
        monitoring.free_tool_id(self._tool)
        self._tool = -1
        self._followed.clear()

    def _callbacks(self, events: Any) -> dict[int, Any]:
        return {
            events.PY_START: self._entered,
            events.PY_RESUME: self._entered,
            events.INSTRUCTION: self._instruction,
            events.PY_RETURN: self._left,
            events.PY_UNWIND: self._left,
        }

    # In the following callbacks, the caller's frame is the frame to which the event belongs.

    def _entered(self, code: types.CodeType, offset: int) -> None:
        if self._busy or threading.get_ident() != self._thread or id(code) in self._followed:
            return
        self._busy = True
        before = eval_frame.off()
        try:
            if self._engine.wants(sys._getframe(1)):
                monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
                events = monitoring.events
                monitoring.set_local_events(self._tool, code, events.INSTRUCTION | events.PY_RETURN)
                self._followed[id(code)] = code
        finally:
            eval_frame.restore(before)
            self._busy = False

    def _instruction(self, code: types.CodeType, offset: int) -> None:
        if self._busy or threading.get_ident() != self._thread:
            return
        self._busy = True
        before = eval_frame.off()
        try:
            self._engine.instruction(sys._getframe(1), offset)
        finally:
            eval_frame.restore(before)
            self._busy = False

    def _left(self, code: types.CodeType, offset: int, value: object) -> None:
        if not self._busy and threading.get_ident() == self._thread:
            self._engine.left(sys._getframe(1))
