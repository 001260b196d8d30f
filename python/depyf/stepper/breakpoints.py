"""The commands that change breakpoints and watches."""

from __future__ import annotations

import dis
from typing import Any

from depyf.stepper import view
from depyf.stepper.arguments import CommandError, check_expression, number
from depyf.stepper.engine import Breakpoint, Engine, Watch, watched_key, watched_value
from depyf.stepper.inspection import Inspection
from depyf.stepper.stop import Stop

__all__ = ["Breakpoints"]


class Breakpoints:
    """Adds, changes and removes the numbered breakpoints and watches of an engine. Each method for a command returns
    the text to show.

    Args:
        engine: the engine that stops at the breakpoints and watches.
        inspection: provides the chosen frame, in which lines and offsets are looked up.
    """

    def __init__(self, engine: Engine, inspection: Inspection) -> None:
        self._engine = engine
        self._inspection = inspection
        self._count = 0

    def add(self, stop: Stop, rest: str, temporary: bool = False) -> str:
        if not rest:
            rows = [f"{breakpoint_.number}: {breakpoint_}" for breakpoint_ in self._engine.breakpoints]
            rows += [f"{watch.number}: watch {watch.expression}" for watch in self._engine.watches]
            return "\n".join(rows) or "no breakpoints"
        where, _, condition = rest.partition(",")
        where, condition = where.strip(), condition.strip()
        if not condition and " if " in where:
            where, _, condition = where.partition(" if ")
        where, condition = where.strip(), condition.strip().removeprefix("if ").strip()
        if condition:
            check_expression(condition)
        kind, value, code = self._place(where)
        self._count += 1
        breakpoint_ = Breakpoint(self._count, kind, value, code, condition or None, temporary)
        self._engine.breakpoints.append(breakpoint_)
        return f"breakpoint {breakpoint_.number}: {kind} {value}"

    def _place(self, where: str) -> tuple[str, Any, Any]:
        frame = self._inspection.chosen
        if where.startswith("*"):
            offset = number(where[1:], "b")
            if all(instruction.offset != offset for instruction in view.instructions_of(frame)):
                raise CommandError(f"no instruction begins at offset {offset}; the command dis lists the instructions")
            return "offset", offset, frame.code
        if where.lstrip("-").isdigit():
            line = int(where)
            lines = {frame.source.line(instruction.offset) for instruction in view.instructions_of(frame)} - {None}
            if line not in lines:
                known = ", ".join(map(str, sorted(line for line in lines if line is not None)))
                raise CommandError(f"no instruction belongs to line {line}: {frame.function} has {known}")
            return "line", line, frame.code
        if where in dis.opmap:
            return "op", where, None
        if where.replace(".", "").replace("<locals>", "").isidentifier():
            return "function", where, None
        raise CommandError(f"b takes a line, *OFFSET, the name of an operation or of a function, not {where!r}")

    def add_temporary(self, stop: Stop, rest: str) -> str:
        if not rest:
            raise CommandError("tbreak needs a place")
        return self.add(stop, rest, temporary=True)

    def clear(self, stop: Stop, rest: str) -> str:
        if not rest:
            self._engine.breakpoints.clear()
            return "all breakpoints cleared"
        if rest == "entry":
            self._engine.stops_at_entry = False
            return "execution no longer stops at entries"
        self._engine.breakpoints.remove(self._numbered(rest))
        return f"breakpoint {rest} cleared"

    def _numbered(self, text: str) -> Breakpoint:
        for breakpoint_ in self._engine.breakpoints:
            if str(breakpoint_.number) == text.strip():
                return breakpoint_
        raise CommandError(f"no breakpoint {text!r}; the command b lists them")

    def disable(self, stop: Stop, rest: str) -> str:
        self._numbered(rest).enabled = False
        return f"breakpoint {rest} disabled"

    def enable(self, stop: Stop, rest: str) -> str:
        self._numbered(rest).enabled = True
        return f"breakpoint {rest} enabled"

    def condition(self, stop: Stop, rest: str) -> str:
        which, _, condition = rest.partition(" ")
        breakpoint_ = self._numbered(which)
        if condition.strip():
            check_expression(condition)
        breakpoint_.condition = condition.strip() or None
        return f"breakpoint {which}: {breakpoint_}"

    def watch(self, stop: Stop, rest: str) -> str:
        if not rest:
            raise CommandError("watch needs an expression")
        check_expression(rest)
        value = watched_value(stop, rest)
        self._count += 1
        self._engine.watches.append(Watch(self._count, rest, stop.code, value, watched_key(value)))
        return f"watch {self._count}: {rest}"

    def unwatch(self, stop: Stop, rest: str) -> str:
        left = [watch for watch in self._engine.watches if rest and str(watch.number) != rest]
        if rest and len(left) == len(self._engine.watches):
            raise CommandError(f"no watch {rest!r}; the command b lists them")
        self._engine.watches[:] = left
        return "cleared"
