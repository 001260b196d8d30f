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
  depyf check --write train.py --steps 3         run train.py, write depyf-contract.json
  depyf check train.py --steps 3                 run it again, and compare
  depyf check --baseline ci/contract.json DUMP   check a dump, or a log of TORCH_TRACE
"""


def add_parser(commands: Commands) -> None:
    """Adds the command `depyf check` to the argument parser."""
    parser = commands.add_parser(
        "check",
        help="fail if torch.compile makes something else of a program than its contract states",
        description="Checks a run against the contract of a program: a small file, which is committed. The functions have to "
        "be compiled, with no graph break and no recompilation but those that it lists, and with at most so many kernels, "
        "library calls, saved bytes and guards; each line has to compute the same. A member that is deleted from the file is "
        "not checked. A function that the contract does not have must be compiled whole, and once. The exit status is 0 if "
        "the contract holds, 1 if it is broken, and 2 if that could not be told.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--baseline", metavar="FILE", default=BASELINE, help=f"the contract; {BASELINE} if not given")
    parser.add_argument(
        "--no-breaks",
        action="store_true",
        help="in place of a contract: allow no graph break, and no function that runs eagerly",
    )
    parser.add_argument("--recompiles", metavar="N", help="in place of a contract: allow N recompilations in all")
    parser.add_argument("--kernels", metavar="N", help="in place of a contract: allow N kernels in all")
    parser.add_argument(
        "--write", action="store_true", help="write the contract from the run, in place of an older one"
    )
    parser.add_argument(
        "--without",
        metavar="NAME,...",
        help="sections that --write leaves out: breaks, recompilations, eager, kernels, library_calls, saved_bytes, guards, "
        "operators, backend",
    )
    parser.add_argument(
        "--seconds", metavar="RATIO", help="of --write: allow all compilations RATIO times the seconds of this run"
    )
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.add_argument(
        "-m", action="store_true", dest="module", help="the program is a module's name, as for python -m"
    )
    parser.add_argument("-o", metavar="DIR", help="keep the dump of the program that is run")
    parser.add_argument(
        "target",
        nargs=argparse.REMAINDER,
        metavar="SCRIPT [ARG...]|DIR|LOG",
        help="a program, which is run with its arguments; a dump, a log of TORCH_TRACE, or a record as JSON",
    )


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf check` and returns its exit status: 0 if the contract holds, 1 if it is broken, 2 if this is
    unknown."""
    if not parsed.target:
        print("depyf check: no program, dump or log is given; --help says more", file=sys.stderr)
        return _UNCLEAR
    has_bounds = parsed.no_breaks or parsed.recompiles is not None or parsed.kernels is not None
    if not parsed.write and not has_bounds and not Path(parsed.baseline).is_file():
        print(f"{parsed.baseline}: there is no contract; `depyf check --write` makes it from a run", file=sys.stderr)
        return _UNCLEAR
    options = ["--baseline", parsed.baseline, *(["--no-breaks"] if parsed.no_breaks else [])]
    options += [f"--{name}" for name in ("write", "json") if getattr(parsed, name)]
    for name in ("without", "seconds", "recompiles", "kernels"):
        if getattr(parsed, name) is not None:
            options += [f"--{name}", getattr(parsed, name)]
    path = parsed.target[0]
    if not parsed.module and not path.endswith(".py"):
        if len(parsed.target) > 1:
            print(f"depyf check: {path} is no Python script, so it takes no arguments", file=sys.stderr)
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
    """Yields the directory for the dump: `given`, or a temporary directory, which is removed at the end, if `given` is
    None."""
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
    """Executes `depyf check` in the C++ core and returns its exit status. If `shown` is not None, it replaces the path
    in `arguments[-1]` in error messages."""
    status, output, errors = _core.comparing_command(["check", *arguments])
    sys.stdout.flush()
    sys.stdout.write(output)
    sys.stderr.write(errors if shown is None else errors.replace(arguments[-1], shown))
    return status
