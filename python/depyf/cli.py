"""The command `depyf`, also `python -m depyf`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depyf import (
    artifact_command,
    autoload_command,
    check_command,
    decompile_command,
    diff_command,
    findings_command,
    page,
    program,
    versions,
)

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

_LOADED_WHEN_GIVEN = {"doctor": "depyf.doctor", "edit": "depyf.toolkit.command", "numerics": "depyf.numerics_command"}
"""Maps a command to the module whose `run` executes it. The module of a command is imported only for this command,
because the import takes longer than most commands run."""

_RUN = {
    "autoload": autoload_command.run,
    "check": check_command.run,
    "decompile": decompile_command.run,
    "diff": diff_command.run,
    "findings": findings_command.run,
    "open": artifact_command.run,
    "report": page.run,
}
"""Maps a command to the function that executes the command."""

_EDIT_EXAMPLES = """\
examples:
  depyf edit train.py:Model.forward --file entry.py         run train.py, write an entry
  depyf edit train.py:Model.forward --apply entry.py --then 'main()'
                                                            run it, register the edited file, go on
  depyf edit train.py:Model.forward --editor --then 'main()'
                                                            all in one, with $EDITOR in between
"""


class _Versions(argparse.Action):
    """Prints the versions of depyf, Python and PyTorch, which are looked up only for `--version`, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *arguments: Any) -> None:
        print(versions.line(versions.of_package("torch")))
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Executes the command that the arguments name, and returns its exit status, which is 0 if the command succeeds."""
    parser = argparse.ArgumentParser(prog="depyf", description="See what torch.compile makes, as Python.")
    parser.add_argument(
        "--version",
        action=_Versions,
        nargs=0,
        help="print the versions of depyf, its core, Python and PyTorch, and exit",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    decompile_command.add_parser(commands)
    edit = commands.add_parser(
        "edit",
        help="run a program, and edit a cache entry that Dynamo made meanwhile",
        description="Runs a program, writes source and guards of a cache entry as one file, and registers the edited file.",
        epilog=_EDIT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_edit_arguments(edit)
    run = commands.add_parser(
        "run",
        help="run a program under prepare_debug",
        description="Runs a program as python would, dumps what torch.compile makes in it and in the Python processes that "
        "it starts, and prints a summary at the end (to standard error). The exit status is the program's.",
    )
    _add_run_arguments(run)
    explain = commands.add_parser(
        "explain",
        help="print the summary of finished dumps and logs",
        description="Prints what dumps and logs tell. Several logs are one run, with a process each. The exit status is 1 if "
        "a path could not be read, or something in it is damaged.",
    )
    explain.add_argument(
        "paths",
        nargs="+",
        metavar="DIR|LOG",
        help="that prepare_debug or depyf run wrote to; a log of TORCH_TRACE, or a directory of logs",
    )
    explain.add_argument(
        "--json", action="store_true", help="print the summary and the findings as JSON (docs/findings.md)"
    )
    numerics = commands.add_parser(
        "numerics",
        help="run a program, and compare what its compiled calls compute with eager",
        description="Runs a program. Before each compiled call, the call is made in processes of its own, compiled and not, and "
        "the stages of its compilation are compared with a reference in double precision. Reports go to standard error. The "
        "exit status is the program's, or 1 if a call is compiled wrongly.",
    )
    _add_numerics_arguments(numerics)
    page.add_parser(commands)
    diff_command.add_parser(commands)
    check_command.add_parser(commands)
    findings_command.add_parser(commands)
    artifact_command.add_parser(commands)
    autoload_command.add_parser(commands)
    _add_doctor(commands)
    parsed = parser.parse_args(arguments)
    if parsed.command == "run":
        if not parsed.program:
            run.error("no program is given")
        if parsed.redact and not parsed.report:
            run.error("--redact is about the page, which --report writes")
        if parsed.fail_on is not None and (problem := findings_command.problem_of(parsed.fail_on)):
            run.error(problem)
        try:
            wanted_page: program.WantedPage = "redacted" if parsed.redact else "whole" if parsed.report else "none"
            status = program.run(
                parsed.program,
                module=parsed.module,
                directory=parsed.o,
                wanted_page=wanted_page,
                profiles=parsed.profile,
            )
            return status or findings_command.status_of(parsed.o, parsed.fail_on)
        except (OSError, SyntaxError) as error:
            print(f"depyf: {parsed.program[0]}: {error}", file=sys.stderr)
            return 1
    if parsed.command == "explain":
        return program.explain(parsed.paths, as_json=parsed.json)
    if parsed.command in _LOADED_WHEN_GIVEN:
        return int(import_module(_LOADED_WHEN_GIVEN[parsed.command]).run(parsed))
    return _RUN[parsed.command](parsed)


def _add_doctor(commands: Commands) -> None:
    """Adds the command `depyf doctor` to the argument parser."""
    doctor = commands.add_parser(
        "doctor",
        help="tell what works with the PyTorch and the Python that are installed",
        description="Probes what is installed, runs a small program, and prints what works. The exit status is 1 if "
        "something does not work that should with these releases.",
    )
    doctor.add_argument("--json", action="store_true", help="print it as JSON")
    doctor.add_argument(
        "--backend", default="aot_eager", help="of the program; inductor takes longer, and tries its parts too"
    )
    doctor.add_argument(
        "--report",
        metavar="FILE",
        help="write what a bug report needs too: versions, the platform, settings and findings, with ~ for your home "
        "folder and without your code; FILE is overwritten",
    )


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `depyf run`."""
    parser.add_argument(
        "-o", metavar="DIR", default=program.DIRECTORY, help=f"of the dump; {program.DIRECTORY} if not given"
    )
    parser.add_argument(
        "-m", action="store_true", dest="module", help="the program is a module's name, as for python -m"
    )
    parser.add_argument("--report", action="store_true", help="write DIR/report.html too: the run as one page")
    parser.add_argument(
        "--redact", action="store_true", help=f"of --report: {page.REDACTED}; the files of DIR show it all"
    )
    parser.add_argument(
        "--profile",
        action="store_true",
        help="measure what compiling, memory and calls cost, by line: printed, and in DIR/costs.txt and DIR/costs.json",
    )
    parser.add_argument("--fail-on", metavar="CODE,...", help=f"{findings_command.FAIL_ON}; see `depyf findings`")
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="SCRIPT [ARG...]", help="the script, and its arguments"
    )


def _add_numerics_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `depyf numerics`."""
    parser.add_argument("--call", type=int, metavar="N", help="compare only the N-th compiled call, from 0 on")
    parser.add_argument(
        "--reproduction", metavar="FILE", help="where a program that shows the first finding is written"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="where the errors of all lines are written as a record; `depyf report DUMP FILE` shows them at the lines",
    )
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="SCRIPT [ARG...]", help="the script, and its arguments"
    )


def _add_edit_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `depyf edit`."""
    parser.add_argument(
        "target", metavar="TARGET", help="FILE.py:FUNCTION or MODULE:FUNCTION; a function, method, module or result"
    )
    parser.add_argument("arguments", nargs="*", metavar="ARG", help="what the program gets in sys.argv")
    parser.add_argument("--first", metavar="CODE", help="run after the program, so that something is compiled")
    parser.add_argument("--entry", type=int, metavar="N", help="which entry, in Dynamo's order; 0 if not given")
    parser.add_argument("--file", type=Path, metavar="FILE", help="where the entry is written")
    parser.add_argument("--editor", action="store_true", help="open it in $EDITOR, and register what comes back")
    parser.add_argument("--apply", type=Path, metavar="FILE", help="register this file; nothing is written")
    parser.add_argument("--then", metavar="CODE", help="run at the end; the value of an expression is printed")


if __name__ == "__main__":
    sys.exit(main())
