"""Tests that the interpreter can exit while daemon threads execute depyf's C++ code."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interpreters import interpreter

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
RUNS = 50  # the number of runs with the interpreter that runs the tests
RUNS_OF_OTHERS = 10
# Each thread repeatedly releases the GIL, and tries to acquire it when the interpreter may have ended.
PROGRAM = """
import argparse, sys, threading, time, weakref
from depyf import _core

code = argparse.ArgumentParser._parse_known_args.__code__

def decompiles():
    while True:
        _core.decompile(code, style="readable")

def proves():
    while True:
        _core.prove(code, code)

def decompiles_files():
    while True:
        _core.decompile_files([argparse.__cached__], lambda text: None, lambda text: None)

def writes():
    # The function that is called gives the lock away, and may not get it back.
    busy = lambda text: sum(range(3000))
    while True:
        _core.decompile_files([weakref.__cached__], busy, busy)

sys.setswitchinterval(1e-5)
for work in (decompiles, proves, decompiles_files, writes, writes):
    threading.Thread(target=work, daemon=True).start()
time.sleep(float(sys.argv[1]))
"""


def exit_of(python: str, seconds: float) -> tuple[int, str]:
    command = [python, "-c", PROGRAM, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize("version", [(3, 10), (3, 11), (3, 12), (3, 13), (3, 14)], ids=lambda v: "%d.%d" % v)
def test_daemon_threads_at_exit_do_not_abort_the_process(version, extensions):
    runs = RUNS
    if version != sys.version_info[:2]:
        runs = RUNS_OF_OTHERS
        extensions(version)
    python = interpreter(version)
    with ThreadPoolExecutor(4) as pool:
        exits = list(pool.map(lambda i: exit_of(python, 0.02 + 0.002 * i), range(runs)))
    assert [one for one in exits if one != (0, "")] == []
