"""The extension for the CPythons at hand."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from interpreters import interpreter

ROOT = Path(__file__).parents[2]


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
