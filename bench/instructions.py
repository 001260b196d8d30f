"""Counts the instructions of marked parts of a benchmark, which no load of the machine changes: in valgrind's callgrind.

The benchmark starts itself again under valgrind (`count`); that process loads the marks (`Marks`) and says what is counted
under which name. Instructions of the kernel, those that create files above all, are not counted.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Instructions are counted from a mark to the next one.
_SOURCE = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_ZERO_STATS; CALLGRIND_START_INSTRUMENTATION; }
void counted(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
void end(void) { CALLGRIND_STOP_INSTRUMENTATION; }
"""


class Marks:
    """The marks, in the process that valgrind runs."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)

    def begin(self) -> None:
        """Counts from here on."""
        self._library.begin()

    def counted(self, name: str) -> None:
        """Puts what was counted since the last mark under a name."""
        self._library.counted(name.encode())

    def end(self) -> None:
        """Counts no more."""
        self._library.end()


def count(script: str, *arguments: str) -> dict[str, int]:
    """Runs `script ARGUMENTS... LIBRARY` in valgrind, and returns the instructions by the names of its marks.

    Raises:
        SystemExit: valgrind or the script failed.
    """
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "marks.c").write_text(_SOURCE)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "marks.so", "marks.c"], cwd=directory, check=True)
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={directory}/out"]
        command += [sys.executable, script, *arguments, f"{directory}/marks.so"]
        done = subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": "0"}, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        counts = {}
        for path in Path(directory).glob("out.*"):
            text = path.read_text(errors="replace")
            name = re.search(r"^desc: Trigger: Client Request: (.*)", text, re.MULTILINE)
            total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
            if name and total:
                counts[name[1]] = int(total[1])
    return counts
