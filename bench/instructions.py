"""Counts the instructions of marked parts of a benchmark with valgrind's callgrind; the counts do not depend on the
load of the machine.

The benchmark starts itself again under valgrind (`count`); the process under valgrind uses `Marks` to begin, name and
end the counts. Instructions of the operating system's kernel, such as those that create files, are not counted.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# C functions that begin, name and end a count of callgrind.
_SOURCE = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_ZERO_STATS; CALLGRIND_START_INSTRUMENTATION; }
void counted(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
void end(void) { CALLGRIND_STOP_INSTRUMENTATION; }
"""


class Marks:
    """Controls callgrind's counter in the process that valgrind runs."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)

    def begin(self) -> None:
        """Sets the counter to 0, and starts counting instructions."""
        self._library.begin()

    def counted(self, name: str) -> None:
        """Stores the number of instructions since the last call of `begin` or `counted` under a name."""
        self._library.counted(name.encode())

    def end(self) -> None:
        """Stops counting instructions."""
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
