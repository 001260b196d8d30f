"""The value stack of a frame: each slot with its value and the expression that it holds."""

from __future__ import annotations

import dis
import sys
import types
from dataclasses import dataclass
from typing import Any

from depyf import _core, names, weak

__all__ = ["NULL", "Slot", "exact_depth", "read", "set_local", "set_slot", "stack_map"]


class _Null:
    """Stands for the NULL that CPython keeps beside some callables."""

    def __repr__(self) -> str:
        return "NULL"

    def __bool__(self) -> bool:
        return False


NULL = _Null()


@dataclass(frozen=True)
class Slot:
    """One slot of a value stack."""

    value: Any
    """The object in it; `NULL` where there is none."""
    expression: str
    """What it holds, as Python; parts that are no Python stand in angle brackets."""
    current: bool
    """Evaluating the expression in the frame gives the value, as far as operators, attributes and subscripts have no
    effects of their own."""
    settable: str
    """What may be put in its place: "any" object, an object of the "same type", or "nothing"."""
    made_at: int
    """Offset of the instruction that pushed it, in bytes; -1 where several ways meet."""

    def __str__(self) -> str:
        return self.expression


_kept: weak.Table[Any] = weak.Table()
"""By code object, computed once. An entry goes with its code, and nothing else clears it. It has no lock, as threads
may write the same value at once; a forked child goes on with its copy."""


def stack_map(code: types.CodeType) -> Any:
    """Returns what is known of the value stack of a code object, computed once."""
    known = _kept.get(code)
    if known is None:
        known = _core.stack_map(code)
        _kept.set(code, known)
    return known


def exact_depth(frame: types.FrameType, offset: int, *, in_call: bool) -> int:
    """Returns the number of slots that certainly hold values; -1 if nothing is known.

    Args:
        offset: of the instruction, in bytes.
        in_call: the instruction is running, in a frame that waits for what it called; it may have taken its operands.
    """
    known = stack_map(frame.f_code)
    depth: int = known.depth(offset)
    if depth >= 0 and in_call:
        depth = max(0, depth - known.pops(offset))
    if depth < 0:
        return depth
    own = _core.frame_depth(frame)
    if own is not None and not in_call and own != depth:
        return -1  # bytecode that is not as its instructions say: nothing is read
    return depth


def read(frame: types.FrameType, offset: int, *, in_call: bool = False) -> list[Slot]:
    """Returns the slots of a frame that stands before the instruction at `offset`, the lowest first."""
    depth = exact_depth(frame, offset, in_call=in_call)
    if depth <= 0:
        return []
    values = _core.frame_stack(frame, depth, NULL)
    rows = stack_map(frame.f_code).slots(offset)[:depth]
    called = depth - stack_map(frame.f_code).pops(offset) if _splits_methods(frame.f_code, offset) else -1
    slots = []
    for i, (value, (expression, current, kind, made_at)) in enumerate(zip(values, rows)):
        if kind == "method" and i + 1 < depth:
            receiver = values[i + 1]
            if value is not NULL and receiver is not NULL:
                expression, current = f"<function of {expression}>", False
        elif kind == "receiver" and values[i - 1] is NULL:
            expression, current, kind, made_at = rows[i - 1]
        if called >= 0 and i in (called, called + 1) and values[called] is not NULL:
            callable_ = rows[called if rows[called][2] == "method" else called + 1][0]
            expression, current, kind = f"<{'function' if i == called else 'self'} of {callable_}>", False, "internal"
        if value is NULL:
            expression, current, kind = "NULL", False, "null"
        settable = {"internal": "same type", "null": "nothing"}.get(kind, "any")
        slots.append(Slot(value, names.shorten(expression), current, settable, made_at))
    return slots


def _splits_methods(code: types.CodeType, offset: int) -> bool:
    """True on 3.11 before CALL, as PRECALL has put function and self of a bound method in the two slots."""
    return sys.version_info[:2] == (3, 11) and dis.opname[code.co_code[offset]] == "CALL"


def set_slot(frame: types.FrameType, offset: int, index: int, value: Any) -> None:
    """Puts `value` in a slot; negative indices count from the top.

    Raises:
        IndexError: there is no such slot.
        ValueError: the slot holds NULL.
        TypeError: the interpreter relies on the type that is there.
    """
    slots = read(frame, offset)
    if not -len(slots) <= index < len(slots):
        raise IndexError(f"stack[{index}]: the stack has {len(slots)} slots")
    index %= len(slots)
    slot = slots[index]
    if slot.settable == "nothing":
        raise ValueError(f"stack[{index}] holds NULL, which marks a kind of call: nothing else can be put there")
    if slot.settable == "same type" and type(value) is not type(slot.value):
        raise TypeError(
            f"stack[{index}] holds {slot.expression}: the interpreter relies on a {type(slot.value).__name__} there, "
            f"not a {type(value).__name__}"
        )
    _core.set_frame_stack(frame, len(slots), index, value)


def set_local(frame: types.FrameType, name: str, value: Any) -> None:
    """Sets a local, cell or free variable of a running frame.

    Raises:
        KeyError: the frame has no such variable.
    """
    code = frame.f_code
    if not code.co_flags & 1:  # CO_OPTIMIZED: module and class bodies keep names in a dictionary
        frame.f_locals[name] = value
        return
    if name not in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
        raise KeyError(f"{code.co_name} has no local {name!r}")
    if sys.version_info >= (3, 13):
        frame.f_locals[name] = value  # written through (PEP 667)
        return
    _core.set_frame_local(frame, name, value)
    frame.f_locals  # noqa: B018  # brings the dictionary up to date: after a trace function it is copied back
