"""The commands that continue execution. Each command returns the plan by which execution continues."""

from __future__ import annotations

from collections.abc import Callable

from depyf.stepper.arguments import CommandError, number
from depyf.stepper.engine import Plan
from depyf.stepper.stop import Stop

__all__ = ["COMMANDS"]


def _step_instruction(stop: Stop, rest: str) -> Plan:
    return Plan("instruction", stop.frame)


def _next_instruction(stop: Stop, rest: str) -> Plan:
    return Plan("over", stop.frame)


def _step(stop: Stop, rest: str) -> Plan:
    return Plan("line into", stop.frame, stop.line)


def _next(stop: Stop, rest: str) -> Plan:
    return Plan("line", stop.frame, stop.line)


def _until(stop: Stop, rest: str) -> Plan:
    if not rest:
        if stop.line is None:
            raise CommandError("until needs a line or *OFFSET, because this instruction belongs to no line")
        return Plan("until", stop.frame, place=("line", stop.line + 1))
    kind, value = ("offset", rest[1:]) if rest.startswith("*") else ("line", rest)
    return Plan("until", stop.frame, place=(kind, number(value, "until")))


def _return(stop: Stop, rest: str) -> Plan:
    return Plan("return", stop.frame)


def _continue(stop: Stop, rest: str) -> Plan:
    return Plan("run", stop.frame)


def _quit(stop: Stop, rest: str) -> Plan:
    return Plan("quit")


COMMANDS: dict[str, Callable[[Stop, str], Plan]] = {
    name: command
    for names, command in (
        (("si", "stepi"), _step_instruction),
        (("ni", "nexti"), _next_instruction),
        (("s", "step"), _step),
        (("n", "next"), _next),
        (("unt", "until"), _until),
        (("r", "return"), _return),
        (("c", "cont", "continue"), _continue),
        (("q", "quit", "exit"), _quit),
    )
    for name in names
}
