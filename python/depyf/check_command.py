"""`depyf check`: compares the compilations of a program with its contract, a file that lists the allowed graph breaks,
recompilations, kernels and guards."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from depyf import _core, program

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

BASELINE = "depyf-contract.json"
_UNCLEAR = 2
_EXAMPLES = """\
examples:
  depyf check --write train.py --steps 3         run train.py, and write its contract to depyf-contract.json
  depyf check train.py --steps 3                 run train.py again, and check this run against the contract
  depyf check --baseline ci/contract.json DUMP   check a dump or a TORCH_TRACE log
"""
_DESCRIPTION = """\
Checks a run against the contract of a program, which is a small file that is committed with the program. The run keeps
the contract if all functions of the contract are compiled, if they have no graph breaks and no recompilations other
than the listed ones, if the kernels, library calls, saved bytes and guards do not exceed the listed numbers, and if
each line computes the same as before. A member that was deleted from the file is not checked. A function that the
contract does not list must be compiled as a whole, and only once. The exit status is 0 if the contract holds, 1 if the
contract is broken, and 2 if the run cannot be checked.
"""


def add_parser(commands: Commands) -> None:
    """Adds the command `depyf check` to the argument parser."""
    parser = commands.add_parser(
        "check",
        help="run a program, and fail if the run breaks the contract of the program",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--baseline", metavar="FILE", default=BASELINE, help=f"the file of the contract (default: {BASELINE})"
    )
    parser.add_argument(
        "--no-breaks",
        action="store_true",
        help="instead of a contract: allow no graph breaks, and no functions that run eagerly",
    )
    parser.add_argument("--recompiles", metavar="N", help="instead of a contract: allow N recompilations in total")
    parser.add_argument("--kernels", metavar="N", help="instead of a contract: allow N kernels in total")
    parser.add_argument(
        "--write", action="store_true", help="write the contract from this run, and replace an existing contract"
    )
    parser.add_argument(
        "--without",
        metavar="NAME,...",
        help="with --write: leave these sections out of the contract (a list with commas): breaks, recompilations, "
        "eager, kernels, library_calls, saved_bytes, guards, operators, backend",
    )
    parser.add_argument(
        "--seconds",
        metavar="RATIO",
        help="with --write: allow all compilations together RATIO times the seconds that they took in this run",
    )
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.add_argument(
        "-m",
        action="store_true",
        dest="module",
        help=program.MODULE_HELP,
    )
    parser.add_argument(
        "-o", metavar="DIR", help="write the dump of the program to DIR (default: a temporary directory)"
    )
    parser.add_argument(
        "target",
        nargs=argparse.REMAINDER,
        metavar="SCRIPT [ARG...]|DIR|LOG",
        help="a program, which is run with its arguments, or a dump, a TORCH_TRACE log, or a record in JSON",
    )


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf check` and returns its exit status: 0 if the contract holds, 1 if it is broken, 2 if depyf could
    not check it."""
    if not parsed.target:
        print("depyf check: no program, dump or log is given; see `depyf check --help`", file=sys.stderr)
        return _UNCLEAR
    has_bounds = parsed.no_breaks or parsed.recompiles is not None or parsed.kernels is not None
    if not parsed.write and not has_bounds and not Path(parsed.baseline).is_file():
        print(
            f"{parsed.baseline}: there is no such contract; `depyf check --write` writes a contract from a run",
            file=sys.stderr,
        )
        return _UNCLEAR
    options = ["--baseline", parsed.baseline, *(["--no-breaks"] if parsed.no_breaks else [])]
    options += [f"--{name}" for name in ("write", "json") if getattr(parsed, name)]
    for name in ("without", "seconds", "recompiles", "kernels"):
        if getattr(parsed, name) is not None:
            options += [f"--{name}", getattr(parsed, name)]
    path = parsed.target[0]
    if not parsed.module and not path.endswith(".py"):
        if len(parsed.target) > 1:
            print(f"depyf check: {path} is not a Python script (.py), so it takes no arguments", file=sys.stderr)
            return _UNCLEAR
        return _compare([*options, path])
    with _directory(parsed.o) as directory:
        try:
            status = program.run(parsed.target, module=parsed.module, directory=directory, shows_summary=False)
        except (OSError, SyntaxError) as error:
            print(f"depyf check: {path}: {error}", file=sys.stderr)
            return _UNCLEAR
        if status:
            print(f"depyf check: {path} failed with exit status {status}, so nothing was checked", file=sys.stderr)
            return _UNCLEAR
        return _compare([*options, directory], shown=path)


@contextlib.contextmanager
def _directory(given: str | None) -> Iterator[str]:
    """Yields the directory for the dump: `given`, or, if `given` is None, a temporary directory that is removed at the
    end of the block."""
    if given is not None:
        yield given
        return
    process = os.getpid()
    directory = tempfile.mkdtemp(prefix="depyf-check-")
    try:
        yield directory
    finally:
        if os.getpid() == process:  # A child that the program has forked also executes this clause.
            shutil.rmtree(directory, ignore_errors=True)


def _compare(arguments: list[str], shown: str | None = None) -> int:
    """Executes `depyf check` in the C++ core and returns its exit status. If `shown` is not None, error messages
    contain `shown` instead of the path `arguments[-1]`."""
    status, output, errors = _core.comparing_command(["check", *arguments])
    sys.stdout.flush()
    sys.stdout.write(output)
    sys.stderr.write(errors if shown is None else errors.replace(arguments[-1], shown))
    return status
