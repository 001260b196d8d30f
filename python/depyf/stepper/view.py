"""Formats a stop as text."""

from __future__ import annotations

from typing import Any

from depyf.stepper.slots import NULL
from depyf.stepper.stop import Frame, Instruction, Stop
from depyf.stepper.stop import instructions as all_instructions

_WIDTH = 80


def short(value: Any) -> str:
    """Returns the `repr` of a value, shortened to one line. `short` never raises an exception, even if `repr` does."""
    if value is NULL:
        return "NULL"
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


def stop(stopped: Stop) -> str:
    """Returns the text that a prompt shows for a stop."""
    parts = [place(stopped), source(stopped, around=1), stack(stopped)]
    return "\n".join(part for part in parts if part)


def place(frame: Frame) -> str:
    """Returns one line with the function, the next instruction and the source line of a frame."""
    reason = f"[{frame.reason}] " if isinstance(frame, Stop) else ""
    line = f", line {frame.line}" if frame.line is not None else ""
    block_ = frame.block
    protected = f", protected by the handler at {block_.target}" if block_ else ""
    return f"> {reason}{frame.function}: {frame.instruction}{line}{protected}"


def source(frame: Frame, *, around: int | None) -> str:
    """Returns the current source line, marked with an arrow, and `around` lines before and after it; all lines of the
    source if `around` is None."""
    lines, current = frame.source.lines, frame.line
    first, last = 1, len(lines)
    if around is not None and current is not None:
        first, last = max(1, current - around), min(len(lines), current + around)
    rows = [
        f"{'->' if number == current else '  '} {number:4}  {lines[number - 1]}" for number in range(first, last + 1)
    ]
    return "\n".join(rows)


def instructions(frame: Frame, *, around: int) -> str:
    """Returns the instructions around the instruction that is executed next."""
    rows = instructions_of(frame)
    index = next((i for i, row in enumerate(rows) if row == frame.instruction), 0)
    shown = rows[max(0, index - around) : index + around + 1]
    return "\n".join(f"{'->' if row == rows[index] else '  '} {row}" for row in shown)


def instructions_of(frame: Frame) -> list[Instruction]:
    return all_instructions(frame.code)


def stack(frame: Frame) -> str:
    """Returns the value stack, the top first, with the meaning of each slot."""
    slots = frame.stack
    if not slots:
        return "stack: the contents are not known here" if frame.depth < 0 else "stack: empty"
    rows = []
    for index in reversed(range(len(slots))):
        slot = slots[index]
        if slot.value is NULL:
            rows.append(f"stack[{index}]: NULL")
            continue
        then = "" if slot.current or slot.expression.startswith("<") else "  (as it was then)"
        rows.append(f"stack[{index}]: {slot.expression}{then}  is  {short(slot.value)}")
    return "\n".join(rows)


def bindings(values: dict[str, Any]) -> str:
    """Returns names with their values, one on each line."""
    return "\n".join(f"{name} = {short(value)}" for name, value in values.items()) or "none"


def block(frame: Frame) -> str:
    """Returns a sentence about the exception handler that protects the next instruction."""
    row = frame.block
    if row is None:
        return "no handler protects this instruction, so an exception leaves the function"
    lasti = "; the handler also receives the offset at which the exception was raised" if row.lasti else ""
    return f"offsets {row.start} to {row.end} lead to the handler at {row.target}, with {row.depth} values kept{lasti}"


def frames(stopped: Stop, chosen: Frame) -> str:
    """Returns the frames of the thread, the oldest first."""
    rows = []
    for frame in reversed(stopped.frames):
        file = frame.source.file if isinstance(frame, Stop) else frame.code.co_filename
        line = frame.frame.f_lineno
        rows.append(f"{'>' if frame.frame is chosen.frame else ' '} {frame.function} at {frame.offset} ({file}:{line})")
    return "\n".join(rows)
