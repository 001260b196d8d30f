"""A place where execution has stopped, which a prompt displays or a callback receives."""

from __future__ import annotations

import ast
import bisect
import dis
import types
from dataclasses import dataclass
from typing import Any

from depyf import _core, names, weak
from depyf.stepper import slots
from depyf.stepper.slots import Slot
from depyf.stepper.sources import Source, source_of

__all__ = ["Block", "Frame", "Instruction", "Stop"]

_UNSET = object()


@dataclass(frozen=True)
class Instruction:
    """The instruction that is executed next."""

    offset: int
    opname: str
    arg: int | None
    argrepr: str

    def __str__(self) -> str:
        return f"{self.offset} {self.opname} {self.argrepr}".rstrip()


@dataclass(frozen=True)
class Block:
    """The row of the exception table with the handler for an instruction (up to Python 3.10, the entry of the block
    stack). All offsets are in bytes."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


class Frame:
    """A Python frame of the stopped thread, with its bytecode."""

    def __init__(self, frame: types.FrameType, offset: int, *, in_call: bool) -> None:
        self.frame = frame
        self.offset = offset
        self._in_call = in_call

    @property
    def code(self) -> types.CodeType:
        return self.frame.f_code

    @property
    def function(self) -> str:
        """The qualified name of the function."""
        return names.shorten(getattr(self.code, "co_qualname", self.code.co_name))

    @property
    def instruction(self) -> Instruction:
        return instruction_at(self.code, self.offset)

    @property
    def source(self) -> Source:
        return source_of(self.code)

    @property
    def line(self) -> int | None:
        """The line of `source`, counted from 1, that the instruction belongs to; None if it belongs to no line."""
        return self.source.line(self.offset)

    @property
    def stack(self) -> list[Slot]:
        """The value stack, the lowest slot first. If the frame waits for a call to return, the returned list contains
        only the values below the operands of the call."""
        return slots.read(self.frame, self.offset, in_call=self._in_call)

    @property
    def depth(self) -> int:
        """Returns the number of values on the stack; -1 if the bytecode does not determine it."""
        return slots.exact_depth(self.frame, self.offset, in_call=self._in_call)

    @property
    def block(self) -> Block | None:
        """Returns the handler for an exception that the instruction at `offset` raises; None if there is no handler."""
        row = slots.stack_map(self.code).handler(self.offset)
        return None if row is None else Block(*row)

    @property
    def locals(self) -> dict[str, Any]:
        """The variables that have values, including cells and free variables."""
        return dict(self.frame.f_locals)

    @property
    def cells(self) -> dict[str, Any]:
        """The variables that are shared with other functions."""
        bound = self.frame.f_locals
        shared = (*self.code.co_cellvars, *self.code.co_freevars)
        return {name: bound[name] for name in shared if name in bound}

    def evaluate(self, expression: str) -> Any:
        """Returns the value of an expression over locals, globals and `stack[i]` (`__stack__[i]` if `stack` is a
        local).

        Raises:
            Exception: an exception that the expression raised is passed on.
        """
        return eval(compile(expression, "<depyf.step>", "eval", dont_inherit=True), self.frame.f_globals, self._names())

    def execute(self, statement: str) -> None:
        """Executes a statement in the frame, whose locals and stack the statement can assign to (`x = 1`,
        `stack[i] = 1`).

        Raises:
            Exception: an exception that the statement raised is passed on.
        """
        tree = ast.parse(statement, "<depyf.step>")
        bound = self._names()
        stack = bound["__stack__"]
        before = dict(bound)
        pushed = list(stack)
        exec(compile(tree, "<depyf.step>", "exec", dont_inherit=True), self.frame.f_globals, bound)
        for index, value in enumerate(pushed):
            if index < len(stack) and stack[index] is not value:
                self.set_stack(index, stack[index])
        for name, value in bound.items():
            if before.get(name, _UNSET) is not value and name not in ("stack", "__stack__", "__builtins__"):
                self.set_local(name, value)

    def set_local(self, name: str, value: Any) -> None:
        """Sets a local, cell or free variable.

        Raises:
            KeyError: the function has no such variable.
        """
        slots.set_local(self.frame, name, value)

    def set_stack(self, index: int, value: Any) -> None:
        """Puts a value in a slot of the stack; a negative index counts from the top.

        Raises:
            IndexError: no slot has the index.
            ValueError: the slot holds NULL, or the frame waits for a call.
            TypeError: the interpreter relies on the type of the current value, and the new value has another type.
        """
        if self._in_call:
            raise ValueError("the stack can be changed only in the frame that has stopped")
        slots.set_slot(self.frame, self.offset, index, value)

    def _names(self) -> dict[str, Any]:
        stack = [slot.value for slot in self.stack]
        globals_ = self.frame.f_globals
        # If the name of a global is shown without its uuid, expressions can also use the name without the uuid.
        shown = {short: globals_[full] for full, short in _core.short_names(self.code).items() if full in globals_}
        return {"stack": stack, **shown, **self.frame.f_locals, "__stack__": stack}


class Stop(Frame):
    """A stop before the instruction at `offset`. A `Stop` is valid until the callback returns."""

    def __init__(self, frame: types.FrameType, offset: int, reason: str) -> None:
        super().__init__(frame, offset, in_call=False)
        self.reason = reason
        """The reason for the stop: "entry", "step", "breakpoint N", or "watch EXPRESSION: OLD -> NEW"."""
        self.output: list[str] = []
        """The output of the commands that a callback returned at this stop."""

    @property
    def frames(self) -> list[Frame]:
        """The frames of the call stack: this frame, its caller, and so on."""
        frames: list[Frame] = [self]
        caller = self.frame.f_back
        while caller is not None:
            frames.append(Frame(caller, caller.f_lasti, in_call=True))
            caller = caller.f_back
        return frames


_instructions: weak.Table[list[Instruction]] = weak.Table()
"""The instructions of each code object, computed once. An item is removed when its code object is freed, and nothing
else clears `_instructions`. `_instructions` has no lock, because threads may write the same value at once; a forked
child continues with its copy."""


def instructions(code: types.CodeType) -> list[Instruction]:
    """Returns all instructions of a code object. An instruction with EXTENDED_ARG begins at the offset of the first
    EXTENDED_ARG."""
    known = _instructions.get(code)
    if known is None:
        known, start = [], None
        for instruction in dis.get_instructions(code):
            if instruction.opname == "CACHE":
                continue
            start = instruction.offset if start is None else start
            if instruction.opname != "EXTENDED_ARG":
                known.append(
                    Instruction(start, instruction.opname, instruction.arg, names.shorten(_argument(instruction)))
                )
                start = None
        _instructions.set(code, known)
    return known


def _argument(instruction: dis.Instruction) -> str:
    # A constant can be any object, whose `repr` can run any code, so only literals are shown unchanged.
    if instruction.opname.startswith("LOAD_CONST") and type(instruction.argval) not in (
        int,
        float,
        str,
        bytes,
        bool,
        type(None),
    ):
        return f"<{type(instruction.argval).__name__}>"
    return instruction.argrepr


def instruction_at(code: types.CodeType, offset: int) -> Instruction:
    """Returns the instruction that begins at an offset, or else the instruction whose bytes contain the offset."""
    rows = instructions(code)
    index = bisect.bisect_right(rows, offset, key=lambda instruction: instruction.offset) - 1
    return rows[index] if index >= 0 else Instruction(offset, "?", None, "")
