"""depyf.step under each CPython at hand: every instruction of ordinary functions, and setting what is on the stack."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from interpreters import interpreter

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(ROOT / "tests")])}


@pytest.fixture(scope="session")
def extensions():
    """Builds the extension for an interpreter; the one of 3.12 is for the newer ones too."""
    built = set()

    def build(version):
        version = min(version, (3, 12))
        python = interpreter(version)
        if python is None:
            pytest.skip(f"no CPython {version[0]}.{version[1]} to build the extension for")
        if version not in built:
            done = subprocess.run([ROOT / "tools" / "extension.sh", python], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            built.add(version)

    return build


@pytest.mark.parametrize("version", [(3, 10), (3, 12), (3, 13), (3, 14)], ids=lambda v: "%d.%d" % v)
def test_every_instruction(version, extensions):
    python = interpreter(version)
    if python is None:
        pytest.skip("no such CPython here")
    extensions(version)
    command = [python, str(ROOT / "tests" / "step" / "driving.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
    assert done.returncode == 0 and done.stdout.endswith("OK\n"), done.stdout + done.stderr
