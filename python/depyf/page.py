"""`depyf report`: writes the report about runs of torch.compile as one HTML file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from depyf import _core

# The parts that a redacted page does not contain, as a text for `--help`.
REDACTED = (
    "leave out source text, paths, strings, numbers other than sizes, and error messages; keep operators, shapes, "
    "times, line numbers, and names that consist of words of PyTorch and Python; replace other names by name1, "
    "file1.py and so on"
)


def write_page(
    paths: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    command: str,
    *,
    redact: bool = False,
) -> list[str]:
    """Writes the page about dumps and TORCH_TRACE logs, and returns messages about the files that could not be read.

    Args:
        paths: directories that `prepare_debug` wrote to, logs, and directories of logs.
        output: the path of the file, which is overwritten.
        command: the command that writes the page; the page shows this command.
        redact: if true, source text, paths, strings, numbers and names of the user are left out; see `REDACTED`.

    Raises:
        OSError: no run could be read, or the page could not be written.
    """
    problems = _core.write_page([os.fspath(path) for path in paths], os.fspath(output), command, redact)
    if not Path(output).exists():
        raise OSError("; ".join(problems) or f"{os.fspath(output)}: nothing was written")
    return problems


def add_parser(commands: Any) -> None:
    """Adds the command `depyf report` to the argument parser."""
    parser = commands.add_parser(
        "report",
        help="write the report about a run as one HTML file",
        description="Writes the report about dumps (of prepare_debug or `depyf run`) and TORCH_TRACE logs as one HTML "
        "file, which any browser opens without a network. The report shows the source, the graphs and the kernels, "
        "linked by line. The exit status is 1 if a file cannot be read or if the report cannot be written, and "
        "otherwise 0.",
    )
    parser.add_argument("paths", nargs="+", metavar="DIR|LOG", help="a dump, a TORCH_TRACE log, or a directory of logs")
    parser.add_argument(
        "-o",
        dest="output",
        default="report.html",
        metavar="FILE",
        help="write the report to FILE (default: report.html)",
    )
    parser.add_argument("--redact", action="store_true", help=REDACTED)
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf report` and returns its exit status: 1 if a file could not be read or the page could not be
    written, and otherwise 0."""
    if os.path.lexists(parsed.output) and not parsed.force:
        print(
            f"depyf: {parsed.output} exists already; name another file with -o, or overwrite the file with --force",
            file=sys.stderr,
        )
        return 1
    try:
        command = f"depyf report {' '.join(parsed.paths)} -o {parsed.output}"
        problems = write_page(parsed.paths, parsed.output, command, redact=parsed.redact)
    except OSError as error:
        print(f"depyf: {error}", file=sys.stderr)
        return 1
    for problem in problems:
        print(f"depyf: {problem}", file=sys.stderr)
    print(f"Wrote {parsed.output}.")
    return 1 if problems else 0
