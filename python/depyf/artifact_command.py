"""`depyf open`: shows the content of a file in which PyTorch saved compilations, without torch, and without executing
anything in the file."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from depyf import _core


def add_parser(commands: Any) -> None:
    """Adds the command `depyf open` to the argument parser."""
    parser = commands.add_parser(
        "open",
        help="show what PyTorch saved of compilations, or how two such files differ",
        description="Shows what is in a file that PyTorch saved: functions compiled ahead of time (aot_compile), bundles of "
        "torch.compiler.save_cache_artifacts, entries of the caches of Inductor and AOTAutograd; of a directory, all that are "
        "below it. Nothing in a file is executed or imported. With two paths: how the second differs from the first. The exit "
        "status is 1 if something could not be read, or the two differ.",
    )
    parser.add_argument("path", metavar="FILE|DIR", help="what PyTorch saved")
    parser.add_argument(
        "other", nargs="?", metavar="OTHER", help="a second file or directory, to be compared with the first"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf open` and returns its exit status: 1 if a file could not be read completely, or the two files
    differ."""
    if parsed.other is not None:
        return _compare(parsed.path, parsed.other, as_json=parsed.json)
    roots = [os.path.abspath(folder) for folder in sys.path if isinstance(folder, str)]
    text, errors, is_whole = _core.open_artifact(parsed.path, roots, parsed.json)
    print(text, end="")
    return _status(errors, is_whole)


def _compare(first: str, second: str, *, as_json: bool) -> int:
    differences, errors, is_whole = _core.compare_artifacts(first, second)
    if as_json:
        print(json.dumps({"differences": differences}, indent=2))
    elif differences:
        print("\n".join(differences))
    elif is_whole:
        print("no difference in anything that depyf reads")
    return max(_status(errors, is_whole), int(bool(differences)))


def _status(errors: list[str], is_whole: bool) -> int:
    for error in errors:
        print(f"depyf: {error}", file=sys.stderr)
    return 0 if is_whole else 1
