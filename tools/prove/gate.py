#!/usr/bin/env python3
"""Measures how much of standard libraries `depyf-decompile --prove` proves.

    gate.py [--versions 3.8 3.12] [--sample 150] [--seed 7] [--list 20] [--mutants 10000]

Compiles files of each interpreter's standard library, tests included, decompiles them, and proves the decompiled
sources. Prints for each version the share of code objects that is proved, the processor time with and without proofs,
and the unproved code objects with the reason. With --mutants, it also makes single mutants of the decompiled trees of
all versions, and prints how many are refused.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

import processor_time  # noqa: E402
import stdlib  # noqa: E402

import interpreters  # noqa: E402

BUILD = ROOT / "build" / "dev"


def compiled(python: str, sample: int, seed: int, folder: Path) -> list[Path]:
    """Compiles `sample` files of the interpreter's standard library, drawn at random with the seed, into `folder`; all
    files if `sample` is 0. Returns the paths of the .pyc files."""
    sources = stdlib.library(python, 0)
    random.Random(seed).shuffle(sources)
    compiler = stdlib.Compiler(python)
    written: list[Path] = []
    for source in sources:
        if sample and len(written) >= sample:
            break
        if pyc := compiler(source.read_bytes()):
            path = folder / f"{len(written)}_{source.stem}.pyc"
            path.write_bytes(pyc)
            written.append(path)
    return written


def seconds(*arguments: str | Path) -> tuple[float, bytes]:
    """Runs depyf-decompile with the arguments, and returns (its processor time in seconds, its output)."""
    before = processor_time.of_children()
    done = subprocess.run([BUILD / "depyf-decompile", *arguments], stdout=subprocess.PIPE, check=False)
    return processor_time.of_children() - before, done.stdout


def measure(version: str, python: str, options: argparse.Namespace, folder: Path) -> list[Path]:
    files = compiled(python, options.sample, options.seed, folder)
    without, _ = seconds("--quiet", "--json", folder)
    with_proofs, report = seconds("--quiet", "--json", "--prove", folder)
    result = json.loads(report)
    proved, refused = result["counts"]["proved"], result["counts"]["not_proved"]
    share = 100 * proved / max(1, proved + refused)
    print(
        f"{version}: {proved} of {proved + refused} code objects of {len(files)} files proved, {share:.3f} %; "
        f"{without:.2f} s without proofs, {with_proofs:.2f} s with"
    )
    rows = [(Path(file["file"]).name, row) for file in result["files"] for row in file["not_proved"]]
    for name, row in rows[: options.list]:
        print(f"    {name}: {row['name']}, offset {row['offset']}: {row['reason']}")
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--versions",
        nargs="*",
        default=["%d.%d" % version for version in interpreters.VERSIONS],
        help="the versions of Python (default: all versions)",
    )
    parser.add_argument(
        "--sample", type=int, default=150, help="use this number of files of each version; 0: all files (default: 150)"
    )
    parser.add_argument("--seed", type=int, default=7, help="the seed that draws the files and mutants (default: 7)")
    parser.add_argument(
        "--list",
        type=int,
        default=20,
        help="for each version, print this number of code objects that are not proved (default: 20)",
    )
    parser.add_argument("--mutants", type=int, default=0, help="the number of mutants of decompiled trees (default: 0)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="depyf-gate-") as top:
        files: list[Path] = []
        for version in options.versions:
            major, minor = map(int, version.split("."))
            python = interpreters.interpreter((major, minor))
            if not python:
                print(f"{version}: no interpreter")
                continue
            folder = Path(top) / version
            folder.mkdir()
            files += measure(version, python, options, folder)
        if options.mutants:
            # Testing a mutant proves its whole file, so the largest quarter of the files is left out to save time.
            small = sorted(files, key=lambda path: path.stat().st_size)[: len(files) * 3 // 4]
            command = [BUILD / "depyf-tree-mutants", str(options.mutants), str(options.seed), *small]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
