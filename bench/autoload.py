"""Measures how much the .pth file of `depyf autoload on` slows down each start of Python without DEPYF_DIR: the time in
which `site` reads a folder with this file or with an empty file, and the processor time of whole starts of Python, with
and without the file.

    python bench/autoload.py [ROUNDS]
"""

from __future__ import annotations

import functools
import os
import site
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path

import processor_time

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "python"))

from depyf import autoload_command  # noqa: E402

READS = 200
"""The number of times that a folder is read in a round."""
STARTS = 10
"""The number of times that Python is started in a round."""


def microseconds_of_reading(folder: Path) -> float:
    """Returns the microseconds in which `site` reads a folder with one file."""
    known = {str(folder)}  # with the folder in `known`, `addsitedir` does not extend sys.path
    start = time.process_time()
    for _ in range(READS):
        site.addsitedir(str(folder), known)
    return (time.process_time() - start) / READS * 1e6


def microseconds_of_start(python: Path) -> float:
    """Returns the microseconds of processor time that a start of Python takes."""
    before = processor_time.of_children()
    for _ in range(STARTS):
        subprocess.run([str(python), "-c", "pass"], check=True)
    return (processor_time.of_children() - before) / STARTS * 1e6


def show(title: str, without: Callable[[], float], with_file: Callable[[], float], rounds: int) -> None:
    """Prints the median times without and with the file in interleaved rounds, and the median of their differences."""
    pairs = [(without(), with_file()) for _ in range(rounds)]
    before, after = (statistics.median(side) for side in zip(*pairs, strict=True))
    difference = statistics.median(new - old for old, new in pairs)
    print(f"{title}: {before:.0f} us, with the file {after:.0f} us; difference {difference:.0f} us", flush=True)


def main() -> None:
    rounds = int(sys.argv[1]) if sys.argv[1:] else 30
    os.environ.pop("DEPYF_DIR", None)
    with tempfile.TemporaryDirectory() as temporary:
        folders = [Path(temporary, name) for name in ("empty", "file")]
        for folder, content in zip(folders, ("# empty\n", autoload_command.CONTENT), strict=True):
            folder.mkdir()
            (folder / autoload_command.NAME).write_text(content, encoding="utf-8")
        empty, file = (functools.partial(microseconds_of_reading, folder) for folder in folders)
        show("reading the folder, processor time", empty, file, rounds)
        pythons = []
        for name, content in (("plain", None), ("autoload", autoload_command.CONTENT)):
            venv.create(Path(temporary, name), with_pip=False, symlinks=True)
            python = Path(temporary, name, "bin", "python")
            (packages,) = Path(temporary, name, "lib").glob("python*/site-packages")
            (packages / "checkout.pth").write_text(f"{ROOT / 'python'}\n", encoding="utf-8")
            if content is not None:
                (packages / autoload_command.NAME).write_text(content, encoding="utf-8")
            pythons.append(python)
        plain, autoload = (functools.partial(microseconds_of_start, python) for python in pythons)
        show("a start of Python, processor time", plain, autoload, rounds)
        os.environ["DEPYF_DIR"] = str(Path(temporary, "dump"))
        show("a start of Python with DEPYF_DIR, processor time", plain, autoload, rounds)


if __name__ == "__main__":
    main()
