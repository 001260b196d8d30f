"""`depyf findings`: lists results of torch.compile that a user may want to change, such as graph breaks, with codes,
places and remedies."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from depyf import _core

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

FAIL_ON = (
    'make the exit status 1 if there is a finding with one of these codes (a list with commas); "break" stands for '
    'graph-break, eager-function and compile-error, "recompile" for recompilation and recompile-limit, "any" for all '
    "codes"
)


def add_parser(commands: Commands) -> None:
    """Adds the command `depyf findings` to the argument parser."""
    parser = commands.add_parser(
        "findings",
        help="list graph breaks, recompilations and other findings with codes, places and remedies",
        description="Lists what torch.compile did that a user may want to change. Each finding has a stable code, a "
        "severity, its place, PyTorch's own explanation, and, if one is known, a statement or a patch that should "
        "remove the finding. The exit status is 1 if there is a finding with a code of --fail-on, 2 if a run cannot "
        "be read, and otherwise 0.",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the findings as JSON (docs/findings.md)")
    form.add_argument("--sarif", action="store_true", help="print the findings as SARIF 2.1.0, for GitHub and editors")
    parser.add_argument("--fail-on", metavar="CODE,...", help=FAIL_ON)
    parser.add_argument(
        "--root", metavar="DIR", help="make the paths in SARIF relative to DIR (default: the current directory)"
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="DIR|LOG",
        help="a dump, a TORCH_TRACE log, a directory of logs, or a record in JSON",
    )


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf findings` and returns its exit status. The status is 1 if there are findings with a code of
    `--fail-on`, 2 if a run cannot be read, and otherwise 0."""
    options = [f"--{name}" for name in ("json", "sarif") if getattr(parsed, name)]
    for name in ("fail_on", "root"):
        if getattr(parsed, name) is not None:
            options += [f"--{name.replace('_', '-')}", getattr(parsed, name)]
    status, output, errors = _core.comparing_command(["findings", *options, *parsed.paths])
    sys.stdout.write(output)
    sys.stderr.write(errors)
    return status


def problem_of(codes: str) -> str:
    """Returns the error message about the codes of `--fail-on`; "" if the codes are valid."""
    status, _, errors = _core.comparing_command(["findings", "--fail-on", codes, "--help"])
    return errors.strip() if status else ""


def status_of(directory: str, codes: str | None) -> int:
    """Returns the exit status for `--fail-on`: 1 if the dump has findings with one of the codes, 2 if the dump cannot
    be read, and 0 otherwise, or if `codes` is None. Findings and errors are printed to standard error if the status is
    not 0.
    """
    if codes is None:
        return 0
    status, output, errors = _core.comparing_command(["findings", "--fail-on", codes, directory])
    if status:
        print(f"\n{output}{errors}", end="", file=sys.stderr)
    return status
