"""Reads the value stack of a frame: the value of each slot, and the expression that has this value."""

from __future__ import annotations

import dis
import sys
import types
from dataclasses import dataclass
from typing import Any

from depyf import _core, names, weak

__all__ = ["NULL", "Slot", "exact_depth", "read", "set_local", "set_slot", "stack_map"]


class _Null:
    """The value that represents NULL, which CPython stores beside some callables."""

    def __repr__(self) -> str:
        return "NULL"

    def __bool__(self) -> bool:
        return False


NULL = _Null()


@dataclass(frozen=True)
class Slot:
    """One slot of a value stack."""

    value: Any
    """The object in the slot; `NULL` if there is none."""
    expression: str
    """The meaning of the slot as a Python expression, in which parts that are not Python are in angle brackets."""
    current: bool
    """True if the expression, evaluated in the frame, has the slot's value, provided that operators, attributes and
    subscripts have no side effects."""
    settable: str
    """The objects that can replace the value: "any" object, an object of the "same type", or "nothing"."""
    made_at: int
    """The offset in bytes of the instruction that pushed the value; -1 if several instructions can have pushed it."""

    def __str__(self) -> str:
        return self.expression


_kept: weak.Table[Any] = weak.Table()
"""The stack map of each code object, computed once. An item is removed when its code object is freed, and nothing else
clears `_kept`. `_kept` has no lock, because threads may write the same value at once; a forked child continues with its
copy."""


def stack_map(code: types.CodeType) -> Any:
    """Returns the stack map of a code object, which is computed once."""
    known = _kept.get(code)
    if known is None:
        known = _core.stack_map(code)
        _kept.set(code, known)
    return known


def exact_depth(frame: types.FrameType, offset: int, *, in_call: bool) -> int:
    """Returns the number of slots that certainly hold values; -1 if the contents of the stack are unknown.

    Args:
        offset: the offset of the instruction in bytes.
        in_call: true if the frame waits for a call that the instruction makes; the instruction may already have popped
            its operands.
    """
    known = stack_map(frame.f_code)
    depth: int = known.depth(offset)
    if depth >= 0 and in_call:
        depth = max(0, depth - known.pops(offset))
    if depth < 0:
        return depth
    own = _core.frame_depth(frame)
    if own is not None and not in_call and own != depth:
        return -1  # The frame's stack does not match its instructions, so no slot is read.
    return depth


def read(frame: types.FrameType, offset: int, *, in_call: bool = False) -> list[Slot]:
    """Returns the slots of a frame before the instruction at `offset`, the lowest first; an empty list also if the
    contents of the stack are unknown."""
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
    """True for the instruction CALL of Python 3.11. When CALL runs, PRECALL has already put the function and the self
    of a bound method into two slots."""
    return sys.version_info[:2] == (3, 11) and dis.opname[code.co_code[offset]] == "CALL"


def set_slot(frame: types.FrameType, offset: int, index: int, value: Any) -> None:
    """Replaces the value of a slot. A negative index counts from the top of the stack.

    Raises:
        IndexError: no slot has the index.
        ValueError: the slot holds NULL.
        TypeError: the interpreter relies on the type of the current value, and the new value has another type.
    """
    slots = read(frame, offset)
    if not -len(slots) <= index < len(slots):
        raise IndexError(f"stack[{index}]: the stack has {len(slots)} slots")
    index %= len(slots)
    slot = slots[index]
    if slot.settable == "nothing":
        raise ValueError(f"stack[{index}] holds NULL, which marks a kind of call, so the value cannot be replaced")
    if slot.settable == "same type" and type(value) is not type(slot.value):
        raise TypeError(
            f"stack[{index}] holds {slot.expression}: the interpreter requires a {type(slot.value).__name__} there, "
            f"not a {type(value).__name__}"
        )
    _core.set_frame_stack(frame, len(slots), index, value)


def set_local(frame: types.FrameType, name: str, value: Any) -> None:
    """Sets a local, cell or free variable of a running frame.

    Raises:
        KeyError: the frame has no such variable.
    """
    code = frame.f_code
    # Code without the flag CO_OPTIMIZED, such as the body of a module or class, keeps its variables in a dictionary.
    if not code.co_flags & 1:
        frame.f_locals[name] = value
        return
    if name not in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
        raise KeyError(f"{code.co_name} has no local {name!r}")
    if sys.version_info >= (3, 13):
        frame.f_locals[name] = value  # Writing to the mapping writes to the frame (PEP 667).
        return
    _core.set_frame_local(frame, name, value)
    frame.f_locals  # noqa: B018  # updates the dictionary that CPython copies to the frame after a trace function
