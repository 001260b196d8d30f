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
        help="show the content of files in which PyTorch saved compilations",
        description="Shows the content of a file in which PyTorch saved compilations: functions that were compiled "
        "ahead of time (aot_compile), bundles of torch.compiler.save_cache_artifacts, and entries of the caches of "
        "Inductor and AOTAutograd. For a directory, the command shows all such files below the directory. Nothing in "
        "a file is executed or imported. For two paths, the command prints the differences between the first and the "
        "second. The exit status is 1 if a file cannot be read completely or if the two paths differ, and otherwise 0.",
    )
    parser.add_argument("path", metavar="FILE|DIR", help="a file that PyTorch saved, or a directory of such files")
    parser.add_argument(
        "other", nargs="?", metavar="OTHER", help="a second file or directory, which is compared with the first"
    )
    parser.add_argument("--json", action="store_true", help="print the content or the differences as JSON")


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf open` and returns its exit status: 1 if a file could not be read completely or if the two given
    files differ, otherwise 0."""
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
        print("no difference in the parts that depyf reads")
    return max(_status(errors, is_whole), int(bool(differences)))


def _status(errors: list[str], is_whole: bool) -> int:
    for error in errors:
        print(f"depyf: {error}", file=sys.stderr)
    return 0 if is_whole else 1
