"""Decides when execution stops, from the plan of the last command and from breakpoints and watches. The engine receives
the same events from `sys.monitoring` and from `sys.settrace`."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from depyf.stepper.stop import Stop, instruction_at

__all__ = ["Breakpoint", "Engine", "Plan", "Watch"]

_UNBOUND = object()
_PLAIN = (int, float, complex, str, bytes, bool, type(None))


@dataclass(frozen=True)
class Plan:
    """The way in which execution continues. The field `how` is one of the following words. With all plans but "quit",
    execution also stops at breakpoints, at changes of watched expressions, and at the entry of target functions.

    The plan "instruction" executes until the next instruction, wherever the instruction is.
    The plan "over" executes until the next instruction outside of functions called from `frame`.
    The plan "line" executes until another line is reached outside of functions called from `frame`.
    The plan "line into" executes until another line is reached, in `frame` or in a function called from `frame`.
    The plan "until" executes until an offset or line of `frame` at or beyond `place`.
    The plan "return" executes until the instruction that returns from `frame`.
    The plan "run" causes no stop of its own.
    The plan "quit" ends the stepping.
    """

    how: str
    frame: types.FrameType | None = None
    line: int | None = None
    place: tuple[str, int] | None = None


@dataclass
class Breakpoint:
    """A place at which execution stops."""

    number: int
    kind: str
    """The kind of the place: "line", "offset", "op" or "function"."""
    value: Any
    """The place itself, depending on `kind`: the line of the shown source, the offset in bytes, the name of the
    operation, or the name of the function."""
    code: types.CodeType | None = None
    """The code object that contains the line or offset; None for an operation or a function, which can be in any code
    object."""
    condition: str | None = None
    temporary: bool = False
    enabled: bool = True
    hits: int = 0

    def __str__(self) -> str:
        where = "" if self.code is None else f" of {self.code.co_name}"
        condition = "" if self.condition is None else f" if {self.condition}"
        state = "" if self.enabled else " (disabled)"
        return f"{self.kind} {self.value}{where}{condition}{state}, hit {self.hits} times"


@dataclass
class Watch:
    """An expression whose change stops execution."""

    number: int
    expression: str
    code: types.CodeType
    value: Any = _UNBOUND
    key: Any = None


class Engine:
    """Decides at each instruction whether to stop, and calls `decide` to learn how to continue.

    Args:
        is_target: returns True if execution stops when a code object is entered.
        skips: returns True if stepping does not enter a function that has just been called, given the function's frame.
        decide: receives each stop, and returns the plan by which execution continues.
    """

    def __init__(
        self,
        is_target: Callable[[types.CodeType], bool],
        skips: Callable[[types.FrameType], bool],
        decide: Callable[[Stop], Plan],
    ) -> None:
        self._is_target = is_target
        self._skips = skips
        self._decide = decide
        self.breakpoints: list[Breakpoint] = []
        self.watches: list[Watch] = []
        self.stops_at_entry = True
        self.plan = Plan("run")
        self.ended = False
        # Maps the `id` of each followed frame to the frame. The engine follows a frame from the frame's first event to
        # the end of the frame.
        self._open: dict[int, types.FrameType] = {}
        self._lines: dict[int, int | None] = {}  # the line of each frame when line breakpoints were checked last

    # The following methods receive events.

    def wants(self, frame: types.FrameType) -> bool:
        """True if the engine should follow the frame of a function that has just been called."""
        code = frame.f_code
        if self.ended:
            return False
        if self._is_target(code):
            return True
        if self.plan.how in ("instruction", "line into") and not self._skips(frame):
            return True
        return any(
            breakpoint_.enabled
            and (breakpoint_.code is code or (breakpoint_.kind == "function" and breakpoint_.value in _names_of(code)))
            for breakpoint_ in self.breakpoints
        )

    def instruction(self, frame: types.FrameType, offset: int) -> None:
        """Handles the event that a followed frame is about to execute the instruction at `offset`."""
        if self.ended:
            return
        reason = self._reason(frame, offset)
        if reason is not None:
            self.plan = self._decide(Stop(frame, offset, reason))
            if self.plan.how == "quit":
                self.ended = True
                self._open.clear()

    def follows(self, frame: types.FrameType) -> bool:
        """True if the engine follows the frame. Each followed frame has begun, and has not ended yet."""
        return self._open.get(id(frame)) is frame

    def left(self, frame: types.FrameType) -> None:
        """Handles the event that a followed frame has returned or raised an exception."""
        self._open.pop(id(frame), None)
        self._lines.pop(id(frame), None)
        # A plan that referred to the frame would keep the frame's variables alive until the next stop.
        if self.plan.frame is frame:
            self.plan = replace(self.plan, frame=None)

    def forget(self) -> None:
        """Releases all frames."""
        self.ended = True
        self._open.clear()
        self.plan = Plan("quit")
        self.watches.clear()

    # The following methods decide whether execution stops.

    def _reason(self, frame: types.FrameType, offset: int) -> str | None:
        entered = self._open.get(id(frame)) is not frame
        self._open[id(frame)] = frame
        changed = self._changed_watch(frame, offset)
        hit = self._hit(frame, offset, entered)
        if hit is not None:
            return hit
        if changed is not None:
            return changed
        if entered and self.stops_at_entry and self._is_target(frame.f_code):
            return "entry"
        return "step" if self._due(frame, offset) else None

    def _due(self, frame: types.FrameType, offset: int) -> bool:
        plan = self.plan
        if plan.how == "run":
            return False
        if plan.how == "instruction":
            return True
        here = frame is plan.frame
        if plan.how == "line into" and not here:
            return True
        if not here and plan.frame is not None and _is_called_from(frame, plan.frame):
            return False
        if not here or plan.how == "over":
            return True
        if plan.how in ("line", "line into"):
            line = Stop(frame, offset, "").line
            return line is not None and line != plan.line
        if plan.how == "until" and plan.place is not None:
            kind, value = plan.place
            position = offset if kind == "offset" else Stop(frame, offset, "").line
            return position is not None and position >= value
        return instruction_at(frame.f_code, offset).opname in ("RETURN_VALUE", "RETURN_CONST")

    def _hit(self, frame: types.FrameType, offset: int, entered: bool) -> str | None:
        reason = None
        for breakpoint_ in list(self.breakpoints):
            if (
                not breakpoint_.enabled
                or not self._is_at(breakpoint_, frame, offset, entered)
                or not _holds(breakpoint_, frame, offset)
            ):
                continue
            breakpoint_.hits += 1
            reason = reason or f"breakpoint {breakpoint_.number}"
            if breakpoint_.temporary:
                self.breakpoints.remove(breakpoint_)
        return reason

    def _is_at(self, breakpoint_: Breakpoint, frame: types.FrameType, offset: int, entered: bool) -> bool:
        code = frame.f_code
        if breakpoint_.kind == "function":
            return entered and breakpoint_.value in _names_of(code)
        if breakpoint_.code is not None and breakpoint_.code is not code:
            return False
        if breakpoint_.kind == "offset":
            return bool(offset == breakpoint_.value)
        if breakpoint_.kind == "op":
            return bool(instruction_at(code, offset).opname == breakpoint_.value)
        # A line is reached when the frame is entered, or when the frame's previous instruction belongs to another line.
        stop = Stop(frame, offset, "")
        if stop.line != breakpoint_.value:
            self._lines[id(frame)] = stop.line
            return False
        before, self._lines[id(frame)] = self._lines.get(id(frame)), stop.line
        return before != breakpoint_.value or entered

    def _changed_watch(self, frame: types.FrameType, offset: int) -> str | None:
        reason = None
        for watch in self.watches:
            if watch.code is not frame.f_code:
                continue
            value = watched_value(Stop(frame, offset, ""), watch.expression)
            key = watched_key(value)
            if key != watch.key:
                reason = reason or f"watch {watch.expression}: {_short(watch.value)} -> {_short(value)}"
                watch.value, watch.key = value, key
        return reason


def watched_value(stop: Stop, expression: str) -> Any:
    """Returns the value of a watched expression; a sentinel if the expression has no value."""
    try:
        return stop.evaluate(expression)
    except Exception:
        return _UNBOUND


def watched_key(value: Any) -> Any:
    """Returns a key for the value of a watched expression. The watched expression counts as unchanged if the key of its
    old value equals the key of its new value.

    A number, string or None counts as changed if its type or `repr` differs. Any other value counts as changed if it is
    a different object, or if it is a tensor that was written to. Objects are not compared by `==`, because a comparison
    could execute any code.
    """
    if type(value) in _PLAIN:
        return type(value), repr(value)
    return id(value), getattr(value, "_version", None) if type(value).__module__.startswith("torch") else None


def _short(value: Any) -> str:
    if value is _UNBOUND:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _names_of(code: types.CodeType) -> tuple[str, str]:
    return code.co_name, getattr(code, "co_qualname", code.co_name)


def _holds(breakpoint_: Breakpoint, frame: types.FrameType, offset: int) -> bool:
    if breakpoint_.condition is None:
        return True
    try:
        return bool(Stop(frame, offset, "").evaluate(breakpoint_.condition))
    except Exception:
        return True  # As in pdb, execution stops if the condition raises an exception.


def _is_called_from(frame: types.FrameType, caller: types.FrameType) -> bool:
    ancestor = frame.f_back
    while ancestor is not None:
        if ancestor is caller:
            return True
        ancestor = ancestor.f_back
    return False
