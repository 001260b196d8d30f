"""Checks whether two builds of depyf-decompile print the same bytes: compare_commands.py PYTHON COUNT COMMAND... --
COMMAND...

Decompiles COUNT modules of PYTHON's standard library, taken at equal distances from the sorted list. Exits with 1 at
the first difference.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from interpreters import compile_files  # noqa: E402


def standard_library(python: str, count: int) -> list[str]:
    """Returns the paths of `count` modules of the standard library, in equal steps of the sorted list."""
    ask = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    folder = Path(subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip())
    modules = sorted(str(path) for path in folder.glob("*.py"))
    return modules[:: max(1, len(modules) // count)][:count]


def main() -> None:
    python, count, *commands = sys.argv[1:]
    middle = commands.index("--")
    first, second = commands[:middle], commands[middle + 1 :]
    modules = standard_library(python, int(count))
    assert len(modules) == int(count), f"{python} has only {len(modules)} modules"
    size = 0
    with tempfile.TemporaryDirectory() as folder:
        files = compile_files(python, modules, Path(folder))
        assert len(files) == len(modules), f"{python} does not compile {len(modules) - len(files)} modules"
        for module, compiled in zip(modules, files, strict=True):
            expected, actual = (
                subprocess.run([*command, compiled], capture_output=True, check=True).stdout
                for command in (first, second)
            )
            if expected != actual or not expected:
                sys.exit(f"{module}: {' '.join(second)} prints something else than {' '.join(first)}")
            size += len(expected)
    print(f"{len(modules)} modules, {size} bytes of source: the same from {' '.join(first)} and {' '.join(second)}")


main()
