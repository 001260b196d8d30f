"""Finds the installed CPythons, from 3.8 on."""

from __future__ import annotations

import argparse
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

VERSIONS = [(3, minor) for minor in range(8, 16)]


def _candidates(version: tuple[int, int]) -> list[str]:
    """Returns paths of interpreters: first that of a variable such as DEPYF_PYTHON_3_14, then those of pyenv, then the
    one on PATH."""
    name = "%d.%d" % version
    found = [os.environ.get("DEPYF_PYTHON_" + name.replace(".", "_"))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found += sorted(str(path) for path in pyenv.glob(f"versions/{name}.*/bin/python"))
    found.append(shutil.which("python" + name))
    return [path for path in found if path]


def _is(path: str, version: tuple[int, int]) -> bool:
    command = [path, "-I", "-c", "import sys; sys.exit(sys.version_info[:2] != %r)" % (version,)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@functools.cache
def interpreter(version: tuple[int, int]) -> str | None:
    if version == sys.version_info[:2]:
        return sys.executable
    return next((path for path in _candidates(version) if _is(path, version)), None)


def at_hand(names: str) -> Iterator[tuple[str, tuple[int, int], str]]:
    """Yields the name, the version and the interpreter of each version of a list such as "3.8,3.12". Prints to standard
    error which versions are not installed."""
    for name in names.split(","):
        major, minor = map(int, name.split("."))
        python = interpreter((major, minor))
        if python is None:
            print(f"{name}: no such interpreter here", file=sys.stderr)
        else:
            yield name, (major, minor), python


def add_versions_option(parser: argparse.ArgumentParser) -> None:
    """Adds --versions, a list for `at_hand`, whose default is all versions."""
    parser.add_argument(
        "--versions",
        default=",".join("%d.%d" % version for version in VERSIONS),
        help="a list of versions of CPython with commas (default: %(default)s)",
    )


def compiled(python: str, source: str, folder: Path) -> Path:
    """Compiles a source with an interpreter to a .pyc file in the folder. Returns the path of the .pyc."""
    (folder / "module.py").write_text(source, encoding="utf-8")
    pyc = folder / "module.pyc"
    make = "import py_compile, sys; py_compile.compile(sys.argv[1], cfile=sys.argv[2], doraise=True)"
    subprocess.run([python, "-c", make, str(folder / "module.py"), str(pyc)], check=True)
    return pyc


# A program that compiles the files named on standard input into a folder.
_COMPILE_FILES = """
import py_compile, sys, warnings
warnings.simplefilter("ignore")
for number, source in enumerate(sys.stdin.read().splitlines()):
    try:
        py_compile.compile(source, cfile="%s/%d.pyc" % (sys.argv[1], number), doraise=True)
    except (py_compile.PyCompileError, ValueError):
        pass
"""


def compile_files(python: str, sources: list[str], folder: Path) -> list[Path]:
    """Compiles source files with an interpreter, and returns the compiled files in the order of the sources. A file that
    does not compile, for example because it uses the syntax of a newer version, is left out."""
    command = [python, "-I", "-c", _COMPILE_FILES, str(folder)]
    subprocess.run(command, input="\n".join(sources), text=True, check=True)
    return [pyc for pyc in (folder / f"{number}.pyc" for number in range(len(sources))) if pyc.exists()]
