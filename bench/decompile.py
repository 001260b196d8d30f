#!/usr/bin/env python3
"""Code objects a second: a depyf-decompile in one process and one thread, over the standard library of CPython 3.12.

    decompile.py COMMAND [COMMAND...] [--runs N] [--python PYTHON]

Each COMMAND is run once a round, in turns. The output has the processor time of its quickest run, with its children and
with reading and writing. `load` stops behind reading the files and prints their fields, and `proved` is with --prove.
More than one COMMAND compares them. Without CPython 3.12 the library of the interpreter that runs this program is
taken.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import processor_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from interpreters import interpreter  # noqa: E402

# A program for the interpreter whose standard library is decompiled: it compiles the library into a folder, and prints
# the numbers of modules and code objects.
COMPILE = """
import marshal, py_compile, sys, sysconfig, types, warnings
from pathlib import Path
skipped = {"test", "tests", "idle_test", "lib2to3", "site-packages", "__pycache__"}
def count(code):
    return 1 + sum(count(const) for const in code.co_consts if isinstance(const, types.CodeType))
warnings.simplefilter("ignore")
library, objects = Path(sysconfig.get_path("stdlib")), 0
sources = [path for path in sorted(library.rglob("*.py")) if not skipped & set(path.relative_to(library).parts)]
for number, source in enumerate(sources):
    compiled = py_compile.compile(str(source), cfile=f"{sys.argv[1]}/{number}.pyc", doraise=True)
    objects += count(marshal.loads(Path(compiled).read_bytes()[16:]))
print(len(sources), objects)
"""


def seconds(command: list[str]) -> float:
    """Returns the seconds of user and system time that the command takes."""
    before = processor_time.of_children()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return processor_time.of_children() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", metavar="COMMAND", nargs="+", help="the path of depyf-decompile")
    parser.add_argument("--runs", type=int, default=25, help="run each command this number of times (default: 25)")
    parser.add_argument(
        "--python",
        default=interpreter((3, 12)) or sys.executable,
        help="the interpreter whose standard library is decompiled",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counted = subprocess.check_output([arguments.python, "-c", COMPILE, folder], text=True)
        modules, objects = map(int, counted.split())
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        for what, options in (("load", ["--dump-load"]), ("all", []), ("all, proved", ["--prove"])):
            times: dict[str, list[float]] = {command: [] for command in arguments.commands}
            for _ in range(arguments.runs):
                for command, taken in times.items():
                    taken.append(seconds([command, *options, folder]))
            for command, taken in times.items():
                best = min(taken)
                name = f"{command}: " if len(times) > 1 else ""
                print(
                    f"{name}{what}: {modules} modules, {objects} code objects, {best:.3f} s of processor time: "
                    f"{objects / best:,.0f} code objects/s, {size / best / 1e6:.1f} MB/s"
                )


if __name__ == "__main__":
    main()
