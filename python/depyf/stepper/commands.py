"""The commands: as in pdb where it has one, for lines; `si`, `ni` as in gdb, for instructions."""

from __future__ import annotations

import dis
import pprint
from collections.abc import Callable
from typing import Any

from depyf.stepper import view
from depyf.stepper.engine import Breakpoint, Engine, Plan, Watch, watched_key, watched_value
from depyf.stepper.stop import Frame, Stop

__all__ = ["HELP", "CommandError", "Commands"]

HELP = """\
si, stepi            the next instruction, into calls          s, step       the next source line, into calls
ni, nexti            the next instruction, over calls          n, next       the next source line, over calls
unt, until LINE|*OFF until a line or an offset at or beyond    r, return     to the end of this function
c, continue          to the next breakpoint or entry           q, quit       stop stepping; the program goes on
b WHERE[, COND]      WHERE: LINE, *OFFSET, an OPNAME, or the name of a function that is entered; alone: list
tbreak WHERE         the same, once                            cl [N|entry]  clear one, all, or stops at entry
disable N, enable N                                            condition N [COND]
watch EXPR           stop when it changes                      unwatch [N]
w, where             the frames                                u, d          one frame up, down
l, ll                source around the line, all of it         dis           instructions around this one
stack, locals, cells, block                                    p, pp EXPR    over locals, globals and stack[i]
NAME = EXPR, stack[I] = EXPR, !STATEMENT                       runs, and takes effect
h, help
An empty line repeats the last command.
"""


class CommandError(Exception):
    """The command cannot be executed; the message states the reason and what to do."""


class Commands:
    """Runs commands at a stop. Each gives text to show, or the plan to go on with.

    Args:
        engine: whose breakpoints and watches the commands change.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._count = 0
        self._last = "si"
        self.frame: Frame | None = None
        """The frame that was chosen by `up` and `down`."""

    def run(self, stop: Stop, line: str) -> Plan | str:
        """Runs one line of input.

        Raises:
            CommandError: it cannot be done.
        """
        line = line.strip() or self._last
        self._last = line
        if self.frame is None or not any(frame.frame is self.frame.frame for frame in stop.frames):
            self.frame = stop
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        command = _COMMANDS.get(name)
        # `s = 3` sets a variable, whatever its name.
        if command is not None and not (rest.startswith("=") and not rest.startswith("==")):
            return command(self, stop, rest)
        return self._statement(stop, line)

    def next_instruction(self, stop: Stop) -> Plan:
        """Returns the plan that the command `si` gives."""
        return self._step_instruction(stop, "")

    def _chosen(self) -> Frame:
        assert self.frame is not None
        return self.frame

    # Going on

    def _step_instruction(self, stop: Stop, rest: str) -> Plan:
        return Plan("instruction", stop.frame)

    def _next_instruction(self, stop: Stop, rest: str) -> Plan:
        return Plan("over", stop.frame)

    def _step(self, stop: Stop, rest: str) -> Plan:
        return Plan("line into", stop.frame, stop.line)

    def _next(self, stop: Stop, rest: str) -> Plan:
        return Plan("line", stop.frame, stop.line)

    def _until(self, stop: Stop, rest: str) -> Plan:
        if not rest:
            if stop.line is None:
                raise CommandError("until needs a line or *OFFSET: this instruction belongs to no line")
            return Plan("until", stop.frame, place=("line", stop.line + 1))
        kind, value = ("offset", rest[1:]) if rest.startswith("*") else ("line", rest)
        return Plan("until", stop.frame, place=(kind, _number(value, "until")))

    def _return(self, stop: Stop, rest: str) -> Plan:
        return Plan("return", stop.frame)

    def _continue(self, stop: Stop, rest: str) -> Plan:
        return Plan("run", stop.frame)

    def _quit(self, stop: Stop, rest: str) -> Plan:
        return Plan("quit")

    # Breakpoints and watches

    def _break(self, stop: Stop, rest: str, temporary: bool = False) -> str:
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
            _compiles(condition)
        kind, value, code = self._place(where)
        self._count += 1
        breakpoint_ = Breakpoint(self._count, kind, value, code, condition or None, temporary)
        self._engine.breakpoints.append(breakpoint_)
        return f"breakpoint {breakpoint_.number}: {kind} {value}"

    def _place(self, where: str) -> tuple[str, Any, Any]:
        frame = self._chosen()
        if where.startswith("*"):
            offset = _number(where[1:], "b")
            if all(instruction.offset != offset for instruction in view.instructions_of(frame)):
                raise CommandError(f"no instruction begins at offset {offset}: see dis")
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

    def _tbreak(self, stop: Stop, rest: str) -> str:
        if not rest:
            raise CommandError("tbreak needs a place")
        return self._break(stop, rest, temporary=True)

    def _clear(self, stop: Stop, rest: str) -> str:
        if not rest:
            self._engine.breakpoints.clear()
            return "all breakpoints cleared"
        if rest == "entry":
            self._engine.stops_at_entry = False
            return "does not stop at entries any more"
        self._engine.breakpoints.remove(self._numbered(rest))
        return f"breakpoint {rest} cleared"

    def _numbered(self, text: str) -> Breakpoint:
        for breakpoint_ in self._engine.breakpoints:
            if str(breakpoint_.number) == text.strip():
                return breakpoint_
        raise CommandError(f"no breakpoint {text!r}: b lists them")

    def _disable(self, stop: Stop, rest: str) -> str:
        self._numbered(rest).enabled = False
        return f"breakpoint {rest} disabled"

    def _enable(self, stop: Stop, rest: str) -> str:
        self._numbered(rest).enabled = True
        return f"breakpoint {rest} enabled"

    def _condition(self, stop: Stop, rest: str) -> str:
        number, _, condition = rest.partition(" ")
        breakpoint_ = self._numbered(number)
        if condition.strip():
            _compiles(condition)
        breakpoint_.condition = condition.strip() or None
        return f"breakpoint {number}: {breakpoint_}"

    def _watch(self, stop: Stop, rest: str) -> str:
        if not rest:
            raise CommandError("watch needs an expression")
        _compiles(rest)
        value = watched_value(stop, rest)
        self._count += 1
        self._engine.watches.append(Watch(self._count, rest, stop.code, value, watched_key(value)))
        return f"watch {self._count}: {rest}"

    def _unwatch(self, stop: Stop, rest: str) -> str:
        left = [watch for watch in self._engine.watches if rest and str(watch.number) != rest]
        if rest and len(left) == len(self._engine.watches):
            raise CommandError(f"no watch {rest!r}: b lists them")
        self._engine.watches[:] = left
        return "cleared"

    # Looking

    def _up(self, stop: Stop, rest: str) -> str:
        return self._move(stop, 1)

    def _down(self, stop: Stop, rest: str) -> str:
        return self._move(stop, -1)

    def _move(self, stop: Stop, by: int) -> str:
        frames = stop.frames
        position = next(i for i, frame in enumerate(frames) if frame.frame is self._chosen().frame) + by
        if not 0 <= position < len(frames):
            raise CommandError("the oldest frame" if by > 0 else "the newest frame")
        self.frame = frames[position]
        return view.place(self.frame)

    def _where(self, stop: Stop, rest: str) -> str:
        return view.frames(stop, self._chosen())

    def _list(self, stop: Stop, rest: str) -> str:
        return view.source(self._chosen(), around=5)

    def _list_all(self, stop: Stop, rest: str) -> str:
        return view.source(self._chosen(), around=None)

    def _dis(self, stop: Stop, rest: str) -> str:
        return view.instructions(self._chosen(), around=8)

    def _stack(self, stop: Stop, rest: str) -> str:
        return view.stack(self._chosen())

    def _locals(self, stop: Stop, rest: str) -> str:
        return view.bindings(self._chosen().locals)

    def _cells(self, stop: Stop, rest: str) -> str:
        return view.bindings(self._chosen().cells)

    def _block(self, stop: Stop, rest: str) -> str:
        return view.block(self._chosen())

    def _print(self, stop: Stop, rest: str) -> str:
        return repr(self._value(rest))

    def _pretty_print(self, stop: Stop, rest: str) -> str:
        return pprint.pformat(self._value(rest))

    def _value(self, expression: str) -> Any:
        try:
            return self._chosen().evaluate(expression)
        except Exception as error:
            raise CommandError(f"{type(error).__name__}: {error}") from None

    def _statement(self, stop: Stop, line: str) -> str:
        text = line.removeprefix("!").strip()
        frame = self._chosen()
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

    def _help(self, stop: Stop, rest: str) -> str:
        return HELP.rstrip()


def _number(text: str, command: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CommandError(f"{command} takes a number, not {text!r}") from None


def _compiles(expression: str) -> None:
    try:
        compile(expression, "<depyf.step>", "eval", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise CommandError(f"no expression: {expression!r}: {error}") from None


_COMMANDS: dict[str, Callable[[Commands, Stop, str], Plan | str]] = {
    name: command
    for names, command in (
        (("si", "stepi"), Commands._step_instruction),
        (("ni", "nexti"), Commands._next_instruction),
        (("s", "step"), Commands._step),
        (("n", "next"), Commands._next),
        (("unt", "until"), Commands._until),
        (("r", "return"), Commands._return),
        (("c", "cont", "continue"), Commands._continue),
        (("q", "quit", "exit"), Commands._quit),
        (("b", "break"), Commands._break),
        (("tbreak",), Commands._tbreak),
        (("cl", "clear"), Commands._clear),
        (("disable",), Commands._disable),
        (("enable",), Commands._enable),
        (("condition",), Commands._condition),
        (("watch",), Commands._watch),
        (("unwatch",), Commands._unwatch),
        (("u", "up"), Commands._up),
        (("d", "down"), Commands._down),
        (("w", "where", "bt"), Commands._where),
        (("l", "list"), Commands._list),
        (("ll", "longlist"), Commands._list_all),
        (("dis",), Commands._dis),
        (("stack",), Commands._stack),
        (("locals",), Commands._locals),
        (("cells",), Commands._cells),
        (("block",), Commands._block),
        (("p",), Commands._print),
        (("pp",), Commands._pretty_print),
        (("h", "help", "?"), Commands._help),
    )
    for name in names
}
