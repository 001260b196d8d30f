"""The comparison that the round-trip figures are based on distinguishes equal and unequal code, on every interpreter at
hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from interpreters import VERSIONS, interpreter

TOOLS = Path(__file__).parent.parent.parent / "tools" / "roundtrip"


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "%d.%d" % version)
def test_pairs(version: tuple[int, int]) -> None:
    python = interpreter(version)
    if python is None:
        assert version != sys.version_info[:2]
        pytest.skip("no such interpreter here")
    done = subprocess.run([python, str(TOOLS / "test_compare.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pairs = 44 if version >= (3, 15) else 42  # two more pairs have lazy imports
    assert f"{pairs} passed, 0 failed" in done.stdout
