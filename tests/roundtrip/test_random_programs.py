"""Tests that random functions are decompiled correctly, and that tools/roundtrip/random_programs.py notices a text with
another meaning."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from decompiled import COMMAND
from interpreters import VERSIONS, interpreter

TOOL = Path(__file__).resolve().parents[2] / "tools" / "roundtrip" / "random_programs.py"


def run(version: tuple[int, int], *arguments: str) -> subprocess.CompletedProcess:
    if interpreter(version) is None:
        pytest.skip("no such interpreter here")
    command = [sys.executable, TOOL, "--versions", "%d.%d" % version, "--modules", "3", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "%d.%d" % version)
def test_no_function_comes_back_silently_wrong(version):
    answer = run(version)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    functions, marked = map(int, re.search(r"(\d+) functions, (\d+) marked", answer.stdout).groups())
    assert functions > 50
    assert marked < functions / 5


def test_a_wrong_operator_is_noticed(tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text(f"#!/bin/sh\n{COMMAND} \"$@\" | sed 's/ and / or /'\n")
    wrong.chmod(0o755)
    answer = run(sys.version_info[:2], "--command", str(wrong))
    assert answer.returncode == 1
    assert int(re.search(r"(\d+) silent", answer.stdout)[1]) > 10, answer.stdout
