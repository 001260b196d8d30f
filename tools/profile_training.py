#!/usr/bin/env python3
"""Runs a depyf-decompile that writes a profile (cmake/profile.cmake) on real modules.

    profile_training.py COMMAND

The modules are those of the packages in the environment that runs this program, every STEP-th, compiled by each CPython
from 3.8 on that is installed. The standard library is left out, because bench/decompile.py measures the speed on it.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from interpreters import VERSIONS, compile_files, interpreter  # noqa: E402

STEP = 25
# The options of each run, and the share of the modules for the run: 1 of the number given here. Proving a module takes
# twice the time of decompiling it.
RUNS: list[tuple[list[str], int]] = [([], 1), (["--prove"], 4), (["--align", "lines"], 8)]


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    command = sys.argv[1]
    sources = sorted(map(str, Path(sysconfig.get_path("purelib")).rglob("*.py")))[::STEP]
    if not sources:
        print("profile_training: the environment has no packages", file=sys.stderr)
        return 1
    for version in VERSIONS:
        python = interpreter(version)
        if python is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            files = [*map(str, compile_files(python, sources, Path(folder)))]
            print(f"profile_training: {len(files)} modules of CPython {version[0]}.{version[1]}")
            for options, share in RUNS:
                ended = subprocess.run([command, *options, *files[::share]], capture_output=True, check=False)
                if ended.returncode != 0:
                    print(f"profile_training: {command} ended with {ended.returncode}", file=sys.stderr)
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
