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
  depyf edit train.py:Model.forward --file entry.py
      run train.py, and write a cache entry to entry.py
  depyf edit train.py:Model.forward --apply entry.py --then 'main()'
      run train.py, register the edited file entry.py, and call main()
  depyf edit train.py:Model.forward --editor --then 'main()'
      run train.py, write a cache entry, open the file in $EDITOR, register the edited file, and call main()
"""
_EDIT_DESCRIPTION = """\
Runs a program, and writes the source and the guards of a cache entry of one function to a file. With --editor, the
command also opens the file in $EDITOR, and registers the edited file. With --apply, the command registers a file that
was written and edited before. Dynamo uses a registered entry before its own entries, until the process ends.
"""
_RUN_DESCRIPTION = """\
Runs a program as `python` does, and writes a dump of what torch.compile makes of the program and of the Python
processes that the program starts. At the end, the command prints a summary to standard error. The exit status is the
exit status of the program; if the program succeeds, --fail-on can change the exit status."""
_EXPLAIN_DESCRIPTION = """\
Prints a summary of dumps and logs. Several logs are treated as one run, in which each log belongs to one process. The
exit status is 1 if a path cannot be read or if a dump or log is damaged, and otherwise 0."""
_NUMERICS_DESCRIPTION = """\
Runs a program. Before each compiled call of the program, the command executes the same call in separate processes,
both compiled and eagerly, and compares the stages of the compilation with a reference in double precision. The reports
are printed to standard error. The exit status is the exit status of the program; if the program succeeds, the exit
status is 1 if a call is compiled wrongly."""
_DOCTOR_DESCRIPTION = """\
Checks the installed PyTorch and Python, runs a small program, and lists which features of depyf work. The exit status
is 1 if a feature that should work with these releases does not work, or if the report cannot be written, and otherwise
0."""


class _Versions(argparse.Action):
    """Prints the versions of depyf, Python and PyTorch, which are looked up only for `--version`, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *arguments: Any) -> None:
        print(versions.line(versions.of_package("torch")))
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Executes the command that the arguments name, and returns its exit status, which is 0 if the command succeeds."""
    parser = argparse.ArgumentParser(
        prog="depyf", description="Shows what torch.compile makes of a program, as Python code."
    )
    parser.add_argument(
        "--version",
        action=_Versions,
        nargs=0,
        help="print the versions of depyf, of its core, of Python and of PyTorch, and exit",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    decompile_command.add_parser(commands)
    edit = commands.add_parser(
        "edit",
        help="run a program, and edit one of its cache entries",
        description=_EDIT_DESCRIPTION,
        epilog=_EDIT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_edit_arguments(edit)
    run = commands.add_parser(
        "run",
        help="run a program, and write a dump of what torch.compile makes of the program",
        description=_RUN_DESCRIPTION,
    )
    _add_run_arguments(run)
    explain = commands.add_parser(
        "explain",
        help="print a summary of dumps and logs",
        description=_EXPLAIN_DESCRIPTION,
    )
    explain.add_argument(
        "paths",
        nargs="+",
        metavar="DIR|LOG",
        help="a dump that prepare_debug or `depyf run` wrote, a TORCH_TRACE log, or a directory of logs",
    )
    explain.add_argument(
        "--json", action="store_true", help="print the summary and the findings as JSON (docs/findings.md)"
    )
    numerics = commands.add_parser(
        "numerics",
        help="run a program, and compare the results of its compiled calls with eager execution",
        description=_NUMERICS_DESCRIPTION,
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
            run.error("no program is given; name a script, or a module with -m")
        if parsed.redact and not parsed.report:
            run.error("--redact needs --report, because only the report can be redacted")
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
        help="list which features of depyf work with the installed PyTorch and Python",
        description=_DOCTOR_DESCRIPTION,
    )
    doctor.add_argument("--json", action="store_true", help="print the result as JSON")
    doctor.add_argument(
        "--backend",
        default="aot_eager",
        help="compile the small program with BACKEND (default: aot_eager); the backend inductor takes longer, and also "
        "tries the features that need Inductor",
    )
    doctor.add_argument(
        "--report",
        metavar="FILE",
        help="also write the facts that a bug report needs to FILE, which is overwritten: versions, the platform, "
        "settings and the result, with ~ in place of the path of your home folder, and without your code",
    )


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `depyf run`."""
    parser.add_argument(
        "-o", metavar="DIR", default=program.DIRECTORY, help=f"write the dump to DIR (default: {program.DIRECTORY})"
    )
    parser.add_argument(
        "-m",
        action="store_true",
        dest="module",
        help=program.MODULE_HELP,
    )
    parser.add_argument(
        "--report", action="store_true", help="also write the report about the run to DIR/report.html, as one page"
    )
    parser.add_argument(
        "--redact",
        action="store_true",
        help=f"with --report: {page.REDACTED}; the other files in DIR are not redacted",
    )
    parser.add_argument(
        "--profile",
        action="store_true",
        help="measure the costs of compiling, memory and calls by line; print these costs, and write them to "
        "DIR/costs.txt and DIR/costs.json",
    )
    parser.add_argument(
        "--fail-on", metavar="CODE,...", help=f"{findings_command.FAIL_ON}; docs/findings.md lists the codes"
    )
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="SCRIPT [ARG...]", help="the script and its arguments"
    )


def _add_numerics_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `depyf numerics`."""
    parser.add_argument(
        "--call", type=int, metavar="N", help="compare only compiled call number N, counted from 0 (default: all calls)"
    )
    parser.add_argument(
        "--reproduction", metavar="FILE", help="write a program that reproduces the first finding to FILE"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="write the errors of all lines to FILE, as a record; `depyf report DUMP FILE` shows the errors at their "
        "lines",
    )
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="SCRIPT [ARG...]", help="the script and its arguments"
    )


def _add_edit_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `depyf edit`."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="the program and the name of the function, as FILE.py:FUNCTION or MODULE:FUNCTION; FUNCTION names a "
        "function, a method, an nn.Module or a result of torch.compile",
    )
    parser.add_argument(
        "arguments", nargs="*", metavar="ARG", help="an argument that the program FILE.py finds in sys.argv"
    )
    parser.add_argument(
        "--first", metavar="CODE", help="run CODE after the program, for example a call that compiles the function"
    )
    parser.add_argument(
        "--entry",
        type=int,
        metavar="N",
        help="use entry number N of the function, in the order in which Dynamo tries the entries (default: 0)",
    )
    parser.add_argument(
        "--file",
        type=Path,
        metavar="FILE",
        help="write the entry to FILE (default: NAME.entry.py for a function NAME; with --editor: a file in a new "
        "temporary directory)",
    )
    parser.add_argument(
        "--editor", action="store_true", help="open the file in $EDITOR, and register the file when the editor ends"
    )
    parser.add_argument("--apply", type=Path, metavar="FILE", help="register the entry in FILE, and write no file")
    parser.add_argument("--then", metavar="CODE", help="run CODE at the end; if CODE is an expression, print its value")


if __name__ == "__main__":
    sys.exit(main())
