"""`depyf diff`: shows what torch.compile did differently in the second of two runs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from depyf import _core

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(commands: Commands) -> None:
    """Adds the command `depyf diff` to the argument parser."""
    parser = commands.add_parser(
        "diff",
        help="print what torch.compile did differently in the second of two runs",
        description="Compares two runs: functions, graph breaks, recompilations, code that runs eagerly, operators by "
        "line, kernels and fusions, library calls, values saved for the backward, and guards. The most important "
        "differences are printed first. Names that PyTorch generates, addresses, hashes, folders and the order of "
        "compilations do not count as differences. The exit status is 0 if there is no difference, 1 if there is a "
        "difference, and 2 if a run cannot be read.",
    )
    parser.add_argument(
        "--details", action="store_true", help="also print the parts of each difference, and the seconds of each phase"
    )
    parser.add_argument("--json", action="store_true", help="print the differences as JSON (docs/differences.md)")
    parser.add_argument(
        "--html", metavar="FILE", help="also write the report about AFTER to FILE; the page begins with the differences"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    for name, position in (("before", "first"), ("after", "second")):
        parser.add_argument(
            name,
            metavar=name.upper(),
            help=f"the {position} run: a dump, a TORCH_TRACE log, a directory of logs, or a record in JSON",
        )


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf diff` and returns its exit status: 0 if nothing differs, 1 if something does, 2 for an error."""
    options = [f"--{name}" for name in ("details", "json", "force") if getattr(parsed, name)]
    if parsed.html is not None:
        options += ["--html", parsed.html]
    status, output, errors = _core.comparing_command(["diff", *options, parsed.before, parsed.after])
    sys.stdout.write(output)
    sys.stderr.write(errors)
    return status
