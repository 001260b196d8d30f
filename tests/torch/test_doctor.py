"""Tests of `python -m depyf doctor`, and of its results in session.json."""

from __future__ import annotations

import json
import platform
import subprocess
import sys

import pytest

import depyf
import torch
from depyf.compat.names import FEATURES
from torch_helpers import ENVIRONMENT, runs_in

BLOCKED = """
import sys
sys.modules["torch"] = None  # as if it were not installed
from depyf.cli import main
sys.exit(main(["doctor", *sys.argv[1:]]))
"""
DAMAGED = """
import sys
import torch._dynamo.convert_frame
del torch._dynamo.convert_frame.register_bytecode_hook
from depyf.cli import main
sys.exit(main(["doctor", *sys.argv[1:]]))
"""


def doctor(*arguments, program=None):
    command = ["-m", "depyf", "doctor"] if program is None else ["-c", program]
    return subprocess.run(
        [sys.executable, *command, *arguments], capture_output=True, text=True, timeout=300, env=ENVIRONMENT
    )


def test_all_works_here():
    done = doctor("--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["ok"], done.stdout + done.stderr
    assert found["torch"] == torch.__version__ and found["program"] == "works" and found["warnings"] == []
    assert {one["key"]: one["status"] for one in found["features"]} == {one.key: "works" for one in FEATURES}


def test_without_torch_it_says_so():
    done = doctor("--json", program=BLOCKED)
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["torch"] is None and found["program"] == "not run"
    status = {one["key"]: one["status"] for one in found["features"]}
    assert status.pop("decompile") == "works"
    assert set(status.values()) == {"not available"}
    assert "no PyTorch" in doctor(program=BLOCKED).stdout


def test_what_is_missing_is_named():
    done = doctor(program=DAMAGED)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    (row,) = [line for line in lines if line.startswith("prepare_debug: transformed code")]
    assert row.endswith("not available")
    assert "torch._dynamo.convert_frame:register_bytecode_hook is not there" in done.stdout
    assert lines[-1] == "Something that should work with these releases does not work."


def test_a_backend_that_is_not_there_is_told():
    done = doctor("--backend", "no_such_backend")
    assert done.returncode == 1 and "no_such_backend" in done.stdout and "Traceback" not in done.stderr


@pytest.mark.filterwarnings("ignore:depyf. Nothing was compiled")
def test_the_same_is_in_the_session(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(lambda x: x * 2, backend="eager")(torch.ones(3))
    (run,) = runs_in(tmp_path)
    assert [one["key"] for one in run["features"]] == [one.key for one in FEATURES]
    assert {one["status"] for one in run["features"]} == {"works"}
    assert [one.key for one in session.features] == [one.key for one in FEATURES]


def test_the_report_has_what_a_bug_report_needs_and_no_home_folder(tmp_path):
    home = tmp_path / "home" / "someone"
    home.mkdir(parents=True)
    variables = {
        **ENVIRONMENT,
        "HOME": str(home),
        "TORCH_LOGS_OUT": str(home / "logs"),
        "DEPYF_TOKEN": "not to be told",
        "OTHER_TOOL": "not asked for",
    }
    command = [sys.executable, "-m", "depyf", "doctor", "--report", "report.md"]
    done = subprocess.run(command, cwd=home, env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "Wrote report.md" in done.stderr, done.stderr
    text = (home / "report.md").read_text()
    assert f"PyTorch {torch.__version__}" in text and f"depyf {depyf.__version__}, core " in text
    assert platform.platform() in text and "C++ compiler: " in text and "OMP_NUM_THREADS=1" in text
    assert done.stdout.splitlines()[-1] in text
    assert str(home) not in text and "TORCH_LOGS_OUT=~/logs" in text
    assert "not to be told" not in text and "OTHER_TOOL" not in text


def test_a_report_that_cannot_be_written_is_an_error(tmp_path):
    done = doctor("--report", str(tmp_path / "none" / "report.md"), program=BLOCKED)
    assert done.returncode == 1 and "none" in done.stderr and "Traceback" not in done.stderr
