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
        help="say what torch.compile did otherwise in the second of two runs",
        description="Compares two runs: functions, graph breaks, recompilations, what runs eagerly, operators by line, "
        "kernels and fusions, library calls, values saved for the backward, guards. What matters most stands first. Names "
        "that PyTorch gives, addresses, hashes, folders and the order of compilations do not count. The exit status is 0 if "
        "nothing differs, 1 if something does, and 2 if a run could not be read.",
    )
    parser.add_argument("--details", action="store_true", help="what each difference consists of, and seconds by phase")
    parser.add_argument("--json", action="store_true", help="print it as JSON (docs/differences.md)")
    parser.add_argument(
        "--html", metavar="FILE", help="write the report of AFTER, a page that opens with the differences"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there already")
    for name in ("before", "after"):
        parser.add_argument(
            name, metavar=name.upper(), help="a dump, a log of TORCH_TRACE, a directory of logs, or a record as JSON"
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
