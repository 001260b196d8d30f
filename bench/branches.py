#!/usr/bin/env python3
"""Simulated instructions and branch mispredictions of a depyf-decompile over a fifth of the standard library of 3.12.

    branches.py COMMAND [--functions N] [--python PYTHON]

The simulation is that of callgrind (Debian's package valgrind), so the counts do not depend on the load of the machine.
They change by up to half a percent if the functions only lie at other addresses. The estimate of the processor cycles
is a quarter of the instructions plus 22 for each misprediction. `--functions` lists the N functions with the most
mispredictions.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from decompile import COMPILE  # noqa: E402

from interpreters import interpreter  # noqa: E402

CYCLES_OF_MISPREDICTION = 22
INSTRUCTIONS_PER_CYCLE = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", metavar="COMMAND", help="the path of depyf-decompile, built with the release preset")
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="list the N worst functions (default: 0)")
    parser.add_argument(
        "--python",
        default=interpreter((3, 12)) or sys.executable,
        help="the interpreter whose standard library is decompiled",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profiles:
        subprocess.check_output([arguments.python, "-c", COMPILE, folder])
        for path in Path(folder).iterdir():
            if int(path.stem) % 5:
                path.unlink()
        profile = f"{profiles}/callgrind.out"
        options = ["--tool=callgrind", "--branch-sim=yes", f"--callgrind-out-file={profile}"]
        result = subprocess.run(
            ["valgrind", *options, arguments.command, folder], capture_output=True, text=True, check=True
        )
        collected = re.search(r"Collected : ([\d ]+)", result.stderr)
        if collected is None:
            raise SystemExit(f"valgrind printed no counts: {result.stderr.strip()[-300:]}")
        instructions, _, conditional, _, indirect = map(int, collected[1].split())
        cycles = instructions / INSTRUCTIONS_PER_CYCLE + CYCLES_OF_MISPREDICTION * (conditional + indirect)
        print(
            f"{instructions / 1e6:.1f} M instructions; {conditional / 1e6:.3f} M mispredictions of conditional branches, "
            f"{indirect / 1e6:.3f} M of indirect ones; estimate: {cycles / 1e6:.1f} M cycles"
        )
        if arguments.functions:
            annotate = ["callgrind_annotate", "--show=Bcm,Bim,Ir", "--sort=Bcm", "--threshold=99", profile]
            lines = subprocess.check_output(annotate, text=True).splitlines()
            start = next(number for number, line in enumerate(lines) if "file:function" in line)
            print("\n".join(line[:160] for line in lines[start : start + 2 + arguments.functions]))


if __name__ == "__main__":
    main()
