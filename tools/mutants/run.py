"""Runs mutants of .pyc files of all versions at hand, and compiles the decompiled source with the interpreter of the
version.

    python tools/mutants/run.py [--count N] [--seed S] [--build dev|asan]

Prints a line of counts for each version, and exits with 1 where a mutant crashed, hung, took more memory than it may, or
gave a source that does not compile. Files of such mutants are kept in build/mutants.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from interpreters import VERSIONS, interpreter  # noqa: E402

HERE = Path(__file__).parent
# Limits for a build with sanitizers, which delay the reuse of freed memory and slow down execution.
SANITIZED = ["--megabytes", "1024", "--seconds", "120"]


def try_version(python: str, name: str, count: int, arguments: argparse.Namespace) -> bool:
    """Runs `count` mutants of one version, and compiles the decompiled sources. Returns True if no mutant failed."""
    seeds = ROOT / "build" / "mutants" / "seeds" / name
    sources = sorted(map(str, (ROOT / "tests" / "cases").glob("*/*.py")))
    subprocess.run([python, str(HERE / "make_seeds.py"), str(seeds), *sources], check=True, stdout=subprocess.DEVNULL)
    command = [str(ROOT / "build" / arguments.build / "depyf-mutants"), "--seeds", str(seeds), "--sources"]
    command += ["--count", str(count), "--seed", str(arguments.seed), "--keep", str(seeds.parent.parent / name)]
    if arguments.build == "asan":
        command += SANITIZED
    with subprocess.Popen(command, stdout=subprocess.PIPE) as mutants:
        compiled = subprocess.run([python, str(HERE / "compile_sources.py")], stdin=mutants.stdout, check=False)
    return compiled.returncode == 0 and mutants.returncode == 0


def main() -> int:
    """Tries each installed version, and returns the exit status: 1 if a mutant failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--count",
        type=int,
        default=80000,
        help="the number of mutants, which is divided evenly among the versions (default: 80000)",
    )
    parser.add_argument("--seed", type=int, default=1, help="the seed of the mutants (default: 1)")
    parser.add_argument(
        "--build", default="dev", choices=["dev", "asan"], help="the preset whose build is used (default: dev)"
    )
    arguments = parser.parse_args()
    known = {version: python for version in VERSIONS if (python := interpreter(version))}
    good = True
    for version, python in known.items():
        good &= try_version(python, "%d.%d" % version, arguments.count // len(known), arguments)
    missing = ["%d.%d" % version for version in VERSIONS if version not in known]
    if missing:
        print("not at hand, and not tried: " + ", ".join(missing))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
