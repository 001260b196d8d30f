#!/usr/bin/env python3
"""An exercise that shows the work which a new CPython takes. Two invented opcodes are added to a copy of the sources,
step by step.

    python tools/new_opcodes.py [--compiler g++] [--jobs 2]

LOAD_LENGTH has an operation of its own (it replaces a value by its length); DROP is another name of POP_TOP. Before each
step the compiler must name the files that the step changes, and after the last step it must report no error. Prints
the files, and exits with 1 if a step was not demanded, if something is left, or if there are more than FILES_MAX files.
The tables of opcodes are not counted: tools/gen_opcodes.py writes them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES_MAX = 6
TABLE = "src/decode/tables/py315.inc"
NAMES = "src/decode/tables/names.inc"
FREE_BYTES = (201, 202)
"""Bytes of opcodes that CPython 3.15 does not use, for the two invented ones."""


@dataclass
class Edit:
    """An edit that puts a line in front of the first line that contains a text."""

    path: str
    before: str
    line: str
    demanded_by: str
    """The file in which the compiler reports an error without the line."""


STEPS = [
    [
        Edit("src/decode/simple.def", "SIMPLE(NOP,", "SIMPLE(DROP, pop_top)", "src/decode/lower.cpp"),
        Edit("src/decode/simple.def", "SIMPLE(NOP,", "SIMPLE(LOAD_LENGTH, load_length)", "src/decode/lower.cpp"),
    ],
    [Edit("src/decode/op.def", "OP(unknown,", "OP(load_length, 1, 1, none, next, runs)", "src/decode/lower.cpp")],
    [
        Edit(
            "src/lift/operations.cpp",
            "case Op::pop_top_:",
            "    case Op::load_length_: return [](Simulation& sim, const Instruction&) "
            '{ sim.push(Call{sim.context.name("len"), sim.context.list({sim.pop()}), {}}); };',
            "src/lift/operations.cpp",
        ),
        Edit(
            "src/prove/dispatch.cpp",
            "case Op::load_build_class_:",
            "    case Op::load_length_:",
            "src/prove/dispatch.cpp",
        ),
        Edit(
            "src/prove/lockstep_events.cpp",
            "case Op::load_build_class_:",
            "    case Op::load_length_:",
            "src/prove/lockstep_events.cpp",
        ),
        Edit(
            "src/stack/expressions.cpp",
            "case Op::get_len_:",
            '    case Op::load_length_: return note("length of " + text(in[0]));',
            "src/stack/expressions.cpp",
        ),
    ],
]
"""The edits of the copied sources, one list for each step. After a step, the compiler reports errors in the files that
the next step edits."""


def add_opcodes(copy: Path) -> None:
    """Writes the two opcodes into the tables, as tools/gen_opcodes.py does for a CPython that has them."""
    rows = (copy / TABLE).read_text("utf-8")
    for byte in FREE_BYTES:
        assert f"OPCODE({byte}," not in rows, f"byte {byte} is in use"
    rows += f"OPCODE({FREE_BYTES[0]}, DROP, 0, none)\nOPCODE({FREE_BYTES[1]}, LOAD_LENGTH, 0, none)\n"
    (copy / TABLE).write_text(rows, "utf-8")
    names = (copy / NAMES).read_text("utf-8")
    (copy / NAMES).write_text(names + "NAME(DROP)\nNAME(LOAD_LENGTH)\n", "utf-8")


def apply(copy: Path, edit: Edit) -> None:
    """Makes one edit in the copy."""
    path = copy / edit.path
    lines = path.read_text("utf-8").splitlines(keepends=True)
    place = next(index for index, line in enumerate(lines) if edit.before in line)
    lines.insert(place, edit.line + "\n")
    path.write_text("".join(lines), "utf-8")


def sources_with_operations(copy: Path) -> list[Path]:
    """Returns the sources with a switch over operations or opcodes, because only these can lack a case for a new
    one."""
    pattern = re.compile(r"case Op(code)?::\w|decode/simple\.def")
    return [path for path in sorted((copy / "src").rglob("*.cpp")) if pattern.search(path.read_text("utf-8"))]


def faulty(copy: Path, compiler: str, jobs: int) -> dict[str, str]:
    """Returns the sources in which the compiler reports errors, each with its first error."""

    def check(path: Path) -> tuple[str, str]:
        command = [
            compiler,
            "-std=c++20",
            "-fsyntax-only",
            "-Wswitch",
            "-Werror=switch",
            "-Iinclude",
            "-Isrc",
            str(path),
        ]
        result = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
        first = next((line for line in result.stderr.splitlines() if " error: " in line), "")
        return path.relative_to(copy).as_posix(), first.partition(" error: ")[2]

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return {path: fault for path, fault in pool.map(check, sources_with_operations(copy)) if fault}


def main() -> int:
    """Adds the two invented opcodes to a copy of the sources, and returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++", help="the command of the C++ compiler (default: g++)")
    parser.add_argument("--jobs", type=int, default=2, help="run this number of compilers at a time (default: 2)")
    arguments = parser.parse_args()
    changed: list[str] = []
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("src", "include"):
            shutil.copytree(ROOT / part, copy / part)
        add_opcodes(copy)
        for number, step in enumerate([*STEPS, []], 1):
            faults = faulty(copy, arguments.compiler, arguments.jobs)
            for path, fault in faults.items():
                print(f"step {number}: {path}: {fault}")
            undemanded = {edit.demanded_by for edit in step} - set(faults)
            unexpected = set(faults) - {edit.demanded_by for edit in step}
            for path in sorted(undemanded):
                print(f"step {number}: the compiler demands nothing of {path}")
            for path in sorted(unexpected):
                print(f"step {number}: no step gives {path} what it lacks")
            is_good = is_good and not undemanded and not unexpected
            for edit in step:
                apply(copy, edit)
                if edit.path not in changed:
                    changed.append(edit.path)
    print(f"{len(changed)} files (at most {FILES_MAX}): {', '.join(changed)}")
    return 0 if is_good and len(changed) <= FILES_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
