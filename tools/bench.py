"""Times COMMAND, a depyf-decompile, in one process and one thread over the standard library: bench.py COMMAND [RUNS]"""

from __future__ import annotations

import marshal
import os
import py_compile
import subprocess
import sys
import sysconfig
import tempfile
import time
import types
import warnings
from pathlib import Path

SKIPPED = {"test", "tests", "idle_test", "lib2to3", "site-packages", "__pycache__"}


def count(code: types.CodeType) -> int:
    return 1 + sum(count(const) for const in code.co_consts if isinstance(const, types.CodeType))


def main() -> int:
    command, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    stdlib = Path(sysconfig.get_path("stdlib"))
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        objects = size = 0
        sources = [path for path in sorted(stdlib.rglob("*.py")) if not SKIPPED & set(path.relative_to(stdlib).parts)]
        for number, source in enumerate(sources):
            pyc = Path(folder, f"{number}.pyc")
            py_compile.compile(str(source), cfile=str(pyc), doraise=True)
            size += pyc.stat().st_size
            objects += count(marshal.loads(pyc.read_bytes()[16:]))
        for what, options in (("load", ["--dump-load"]), ("all", [])):
            best = float("inf")
            for _ in range(runs):
                before, start = os.times(), time.perf_counter()
                subprocess.run([command, *options, folder], stdout=subprocess.DEVNULL, check=True)
                after, wall = os.times(), time.perf_counter() - start
                cpu = after.children_user + after.children_system - before.children_user - before.children_system
                best = min(best, cpu or wall)
            rate = f"{objects / best:,.0f} code objects/s, {size / best / 1e6:.1f} MB/s"
            print(f"{what}: {len(sources)} modules, {objects} code objects, {best:.2f} s of CPU: {rate}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
