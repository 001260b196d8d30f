"""Tests exception ranges that leave out instructions of the statements which they protect."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from interpreters import VERSIONS, compiled, interpreter

COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(Path(__file__).parents[2] / "build" / "dev" / "depyf-decompile")
# 3.13 leaves the jump of the last test out of the range, and puts a NOP with the line of `is not None` in front of it.
TEST_ON_TWO_LINES = """
def f(configs):
    for config in configs:
        try:
            for model in config:
                if (
                    callable(model)
                    and getattr(model, "filter")
                    is not None
                ):
                    configs.add(model)
        except TypeError as error:
            print(error)
"""


@pytest.mark.parametrize("version", VERSIONS, ids="{0[0]}.{0[1]}".format)
def test_a_test_on_two_lines_lies_in_its_try_statement(version: tuple[int, int], tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    command = [COMMAND, "-q", "--prove", compiled(python, TEST_ON_TWO_LINES, tmp_path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "# depyf:" not in text
