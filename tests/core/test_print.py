"""Tests that each installed interpreter parses the output of the C++ printer to the same tree."""

import os
import subprocess
from pathlib import Path

import pytest

from interpreters import VERSIONS, interpreter

HERE = Path(__file__).parent
TESTS = os.environ.get("DEPYF_CORE_TESTS") or HERE.parent.parent / "build" / "dev" / "depyf_tests"
# The modules of the standard library that use most of the grammar.
MODULES = """argparse ast dataclasses dis enum functools inspect subprocess typing test/test_asyncgen test/test_complex
    test/test_except_star test/test_fstring test/test_generators test/test_grammar test/test_lambda test/test_patma
    test/test_positional_only_arg test/test_tstring test/test_type_params test/test_unpack_ex test/test_with""".split()


def roundtrip(version: tuple[int, int], *arguments: object) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    command = [python, HERE / "print_roundtrip.py", TESTS, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


all_versions = pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "%d.%d" % version)


@all_versions
def test_constants_read_back(version: tuple[int, int]) -> None:
    roundtrip(version, "constants", 10000)


@all_versions
def test_fixtures_come_back_as_they_are(version: tuple[int, int]) -> None:
    roundtrip(version, "style")


@all_versions
def test_trees_read_back(version: tuple[int, int]) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    find = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    stdlib = subprocess.run([python, "-c", find], capture_output=True, encoding="utf-8", check=True).stdout.strip()
    roundtrip(version, "trees", *(Path(stdlib, f"{name}.py") for name in MODULES))
