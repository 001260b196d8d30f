"""Tests depyf.step under each installed CPython: at every instruction of ordinary functions, and with changes of values
on the stack."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from interpreters import interpreter

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(ROOT / "tests")])}


@pytest.mark.parametrize("version", [(3, 10), (3, 12), (3, 13), (3, 14)], ids=lambda v: "%d.%d" % v)
def test_every_instruction(version, extensions):
    python = interpreter(version)
    if python is None:
        pytest.skip("no such CPython here")
    extensions(version)
    command = [python, str(ROOT / "tests" / "step" / "driving.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
    assert done.returncode == 0 and done.stdout.endswith("OK\n"), done.stdout + done.stderr
