"""The commands that inspect a frame, or execute a statement in it."""

from __future__ import annotations

import pprint
from typing import Any

from depyf.stepper import view
from depyf.stepper.arguments import CommandError
from depyf.stepper.stop import Frame, Stop

__all__ = ["Inspection"]


class Inspection:
    """Shows the frame that the commands `up` and `down` have chosen. Each method for a command returns the text to
    show."""

    def __init__(self) -> None:
        self.frame: Frame | None = None
        """The frame that the commands `up` and `down` have chosen; None outside of a stop."""

    @property
    def chosen(self) -> Frame:
        """The frame that the commands `up` and `down` have chosen, which exists only during a stop."""
        assert self.frame is not None
        return self.frame

    def begin(self, stop: Stop) -> None:
        """Chooses the frame that has stopped, unless this frame or one of its callers is chosen already."""
        if self.frame is None or not any(frame.frame is self.frame.frame for frame in stop.frames):
            self.frame = stop

    def up(self, stop: Stop, rest: str) -> str:
        return self._move(stop, 1)

    def down(self, stop: Stop, rest: str) -> str:
        return self._move(stop, -1)

    def _move(self, stop: Stop, by: int) -> str:
        frames = stop.frames
        position = next(i for i, frame in enumerate(frames) if frame.frame is self.chosen.frame) + by
        if not 0 <= position < len(frames):
            raise CommandError("this is the oldest frame" if by > 0 else "this is the newest frame")
        self.frame = frames[position]
        return view.place(self.frame)

    def where(self, stop: Stop, rest: str) -> str:
        return view.frames(stop, self.chosen)

    def list_source(self, stop: Stop, rest: str) -> str:
        return view.source(self.chosen, around=5)

    def list_all_source(self, stop: Stop, rest: str) -> str:
        return view.source(self.chosen, around=None)

    def instructions(self, stop: Stop, rest: str) -> str:
        return view.instructions(self.chosen, around=8)

    def stack(self, stop: Stop, rest: str) -> str:
        return view.stack(self.chosen)

    def local_variables(self, stop: Stop, rest: str) -> str:
        return view.bindings(self.chosen.locals)

    def cells(self, stop: Stop, rest: str) -> str:
        return view.bindings(self.chosen.cells)

    def block(self, stop: Stop, rest: str) -> str:
        return view.block(self.chosen)

    def print_value(self, stop: Stop, rest: str) -> str:
        return repr(self._value(rest))

    def pretty_print_value(self, stop: Stop, rest: str) -> str:
        return pprint.pformat(self._value(rest))

    def _value(self, expression: str) -> Any:
        try:
            return self.chosen.evaluate(expression)
        except Exception as error:
            raise CommandError(f"{type(error).__name__}: {error}") from None

    def statement(self, stop: Stop, line: str) -> str:
        text = line.removeprefix("!").strip()
        frame = self.chosen
        try:
            try:
                compile(text, "<depyf.step>", "eval", dont_inherit=True)
            except SyntaxError:
                frame.execute(text)
                return ""
            value = frame.evaluate(text)
        except Exception as error:
            raise CommandError(f"{type(error).__name__}: {error}") from None
        return "" if value is None else repr(value)
