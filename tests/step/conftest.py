"""Builds the extension module for the installed CPythons."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from interpreters import interpreter

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def extensions():
    """Returns a function that builds the extension module for a version; the module for 3.12 also works with newer
    versions."""
    built = set()

    def build(version):
        built_for = min(version, (3, 12))
        for one in (version, built_for):
            if interpreter(one) is None:
                pytest.skip(f"no CPython {one[0]}.{one[1]} at hand")
        if built_for not in built:
            command = [ROOT / "tools" / "extension.sh", interpreter(built_for)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            built.add(built_for)

    return build
