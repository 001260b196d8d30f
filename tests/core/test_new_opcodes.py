"""Runs the exercise of tools/new_opcodes.py, which shows the work that a new CPython takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXERCISE = Path(__file__).parents[2] / "tools" / "new_opcodes.py"


@pytest.mark.long
def test_two_new_opcodes_take_few_files_that_the_compiler_names() -> None:
    result = subprocess.run([sys.executable, str(EXERCISE)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
