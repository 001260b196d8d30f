"""The commands of the stepper. Commands that work on lines have the names of pdb's commands, as far as pdb has
corresponding commands. The commands for instructions, `si` and `ni`, have the names of gdb's commands."""

from __future__ import annotations

from collections.abc import Callable

from depyf.stepper import going_on
from depyf.stepper.arguments import CommandError
from depyf.stepper.breakpoints import Breakpoints
from depyf.stepper.engine import Engine, Plan
from depyf.stepper.inspection import Inspection
from depyf.stepper.stop import Stop

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


class Commands:
    """Executes commands at a stop. Each command returns a text to show, or the plan by which execution continues.

    Args:
        engine: the engine whose breakpoints and watches the commands change.
    """

    def __init__(self, engine: Engine) -> None:
        self._last = "si"
        self._inspection = Inspection()
        self._table = _table(Breakpoints(engine, self._inspection), self._inspection)

    def run(self, stop: Stop, line: str) -> Plan | str:
        """Executes one line of input.

        Raises:
            CommandError: the command cannot be executed.
        """
        line = line.strip() or self._last
        self._last = line
        self._inspection.begin(stop)
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        command = self._table.get(name)
        # A line such as `s = 3` sets a variable, even if the variable has the name of a command.
        if command is not None and not (rest.startswith("=") and not rest.startswith("==")):
            return command(stop, rest)
        return self._inspection.statement(stop, line)

    def next_instruction(self, stop: Stop) -> Plan:
        """Returns the plan of the command `si`."""
        return going_on.COMMANDS["si"](stop, "")

    def leave(self) -> None:
        """Releases the frames of a stop."""
        self._inspection.frame = None


def _help(stop: Stop, rest: str) -> str:
    return HELP.rstrip()


def _table(breakpoints: Breakpoints, inspection: Inspection) -> dict[str, Callable[[Stop, str], Plan | str]]:
    """Returns a dict from the names of the commands to the functions that execute them."""
    return {**going_on.COMMANDS} | {
        name: command
        for names, command in (
            (("b", "break"), breakpoints.add),
            (("tbreak",), breakpoints.add_temporary),
            (("cl", "clear"), breakpoints.clear),
            (("disable",), breakpoints.disable),
            (("enable",), breakpoints.enable),
            (("condition",), breakpoints.condition),
            (("watch",), breakpoints.watch),
            (("unwatch",), breakpoints.unwatch),
            (("u", "up"), inspection.up),
            (("d", "down"), inspection.down),
            (("w", "where", "bt"), inspection.where),
            (("l", "list"), inspection.list_source),
            (("ll", "longlist"), inspection.list_all_source),
            (("dis",), inspection.instructions),
            (("stack",), inspection.stack),
            (("locals",), inspection.local_variables),
            (("cells",), inspection.cells),
            (("block",), inspection.block),
            (("p",), inspection.print_value),
            (("pp",), inspection.pretty_print_value),
            (("h", "help", "?"), _help),
        )
        for name in names
    }
