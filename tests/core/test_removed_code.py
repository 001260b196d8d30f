"""Tests code of which the compiler removed the body of a try statement, so that a handler is left that nothing reaches."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from interpreters import VERSIONS, compiled, interpreter

COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(Path(__file__).parents[2] / "build" / "dev" / "depyf-decompile")
IN_WITH = """
def f(x):
    with x:
        try:
            pass
        except x:
            assert g
        finally:
            x = x
"""
IN_TRY = """
def f(x):
    try:
        if x:
            try:
                assert 1
            except x as e:
                x <<= x
            finally:
                x /= x
    except OSError as e:
        for x in x:
            with f as x:
                pass
            try:
                break
            finally:
                b = x
"""


@pytest.mark.parametrize("version", VERSIONS, ids="{0[0]}.{0[1]}".format)
@pytest.mark.parametrize("source", [IN_WITH, IN_TRY], ids=["with", "try"])
def test_a_handler_that_nothing_reaches_costs_no_function(
    version: tuple[int, int], source: str, tmp_path: Path
) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    command = [COMMAND, "-q", "--prove", "--check", python, compiled(python, source, tmp_path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "depyf cannot decompile this" not in text
    if version >= (3, 12):
        assert "# depyf: not" not in text
