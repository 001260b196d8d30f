#!/usr/bin/env python3
"""Runs all checks that take longer than `make test`, and prints a table of the results.

    check_all.py [CHECK...] [--seconds-each 60] [--mutants 40]

Checks: gcc, clang, sanitizers, pipeline, fuzz, coverage, score. The exit status is 1 if one of them failed; their output is in
build/check-all/NAME.out. `score` changes single operators of src/prove and src/recode, one at a time, and counts the changes that
the C++ tests notice, or the gate's judgement of tests/cases.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from mutation_score import score

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "check-all"
PYTHON = sys.executable


class Failed(Exception):
    """A check failed; the text describes the failure."""


def run(name: str, command: list[str], **environment: str) -> str:
    """Runs a command with its output in a file. Returns the output.

    Raises:
        Failed: the exit status of the command is not 0.
    """
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"{name}.out"
    with path.open("a", encoding="utf-8") as file:
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **environment}, stdout=file, stderr=subprocess.STDOUT
        )
    text = path.read_text(encoding="utf-8", errors="replace")
    if done.returncode:
        raise Failed(f"exit status {done.returncode}: {text.strip().splitlines()[-1] if text.strip() else 'no output'}")
    return text


def tests_of(preset: str) -> str:
    """Builds a preset and runs its C++ tests. Returns the counts of test cases that doctest prints."""
    run(preset, ["tools/build.sh", preset])
    text = run(preset, [f"build/{preset}/depyf_tests"])
    return next(line.partition("]")[2].strip() for line in text.splitlines() if "test cases:" in line)


def gcc(_: argparse.Namespace) -> str:
    return tests_of("dev")


def clang(_: argparse.Namespace) -> str:
    run("clang", ["tools/setup.sh", "clang-19"])
    return tests_of("clang")


def sanitizers(_: argparse.Namespace) -> str:
    return tests_of("asan")


def pipeline(_: argparse.Namespace) -> str:
    """Runs mutants of modules of all versions through the whole pipeline, under the sanitizers."""
    command = [PYTHON, "tools/mutants/run.py", "--count", "4000", "--seed", "1", "--build", "asan"]
    return run("pipeline", command).strip().splitlines()[-1]


def fuzz(options: argparse.Namespace) -> str:
    targets = sorted(path.stem for path in (ROOT / "fuzz").glob("*.cpp"))
    run("fuzz", ["tools/fuzz.sh"], SECONDS_EACH=str(options.seconds_each))
    return f"{len(targets)} targets, {options.seconds_each} s each, no crash"


def coverage(_: argparse.Namespace) -> str:
    """Measures the share of lines of each stage that the C++ tests run."""
    tests_of("coverage")
    report = OUT / "coverage.json"
    # A loop of the tests runs so often that gcovr takes the count for a fault of gcov.
    options = ["--gcov-ignore-parse-errors", "suspicious_hits.warn_once_per_file", "--json-summary", str(report)]
    gcovr = [PYTHON, "-m", "gcovr", "--root", ".", "--filter", "src/", *options, "build/coverage"]
    run("coverage", gcovr)
    lines: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file in json.loads(report.read_text(encoding="utf-8"))["files"]:
        parts = Path(file["filename"]).parts
        stage = parts[1] if len(parts) > 2 else "src"
        lines[stage][0] += file["line_covered"]
        lines[stage][1] += file["line_total"]
    for stage, (covered, total) in sorted(lines.items()):
        print(f"  {stage:12} {100 * covered / max(total, 1):5.1f} % of {total} lines")
    covered, total = map(sum, zip(*lines.values(), strict=True))
    return f"{100 * covered / total:.1f} % of {total} lines"


def mutation(options: argparse.Namespace) -> str:
    texts = []
    for folder in ("src/prove", "src/recode"):
        noticed, count, survivors = score(ROOT, folder, options.mutants, seed=1)
        texts.append(f"{folder} {noticed} of {count}")
        for survivor in survivors:
            print(f"  not noticed: {survivor}")
    return ", ".join(texts)


CHECKS: dict[str, Callable[[argparse.Namespace], str]] = {
    "gcc": gcc,
    "clang": clang,
    "sanitizers": sanitizers,
    "pipeline": pipeline,
    "fuzz": fuzz,
    "coverage": coverage,
    "score": mutation,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "checks",
        nargs="*",
        metavar="CHECK",
        help="run only this check, which is one of " + ", ".join(CHECKS) + " (default: all checks)",
    )
    parser.add_argument(
        "--seconds-each", type=int, default=60, help="run each fuzz target for this number of seconds (default: 60)"
    )
    parser.add_argument(
        "--mutants",
        type=int,
        default=40,
        help="use this number of mutants of each folder whose tests are scored (default: 40)",
    )
    options = parser.parse_args()
    if unknown := set(options.checks) - set(CHECKS):
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    rows = []
    for name in options.checks or CHECKS:
        (OUT / f"{name}.out").unlink(missing_ok=True)
        started = time.monotonic()
        print(f"check-all: {name}", flush=True)
        try:
            rows.append((name, "passed", CHECKS[name](options), time.monotonic() - started))
        except Failed as error:
            rows.append((name, "FAILED", str(error), time.monotonic() - started))
    for name, state, text, seconds in rows:
        print(f"{name:12} {state:7} {seconds:6.0f} s  {text}")
    return 1 if any(state == "FAILED" for _, state, _, _ in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
