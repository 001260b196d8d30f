"""Tests a sample of `make programs`: the programs that need no packages, and that harm and missing files are
reported."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from torch_helpers import ENVIRONMENT, ROOT

TOOLS = ROOT / "tools" / "programs"


def measure(name, directory):
    """Runs a program plain and under depyf with the tests' own Python, and checks that the page reports no harm and no
    gaps."""
    command = [sys.executable, str(TOOLS / "run.py"), name, "--python", sys.executable]
    command += ["--work", str(directory / "work"), "--to", str(directory / "programs.md")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (directory / "programs.md").read_text()
    assert "0 programs harmed, 0 dumps that lack something, 0 compilations not proved" in page
    assert f"| {name} |" in page
    return directory / "work" / name


@pytest.fixture
def judge(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    import judge

    return judge


@pytest.mark.slow
def test_a_backend_that_splits_graphs_is_unharmed_and_what_is_wrong_is_seen(tmp_path, judge):
    work = measure("split_backend", tmp_path)
    plain, watched = (json.loads((work / f"{kind}.json").read_text()) for kind in ("plain", "depyf"))
    errors = (work / "depyf.err").read_text()
    for facts in (plain, watched):
        facts["status"] = 0

    def verdict(**changes):
        return judge.judge(plain, {**watched, **changes}, errors, work / "dump")

    assert not verdict().harmed and not verdict().incomplete
    assert verdict().compilations == 2
    result = [*watched["result"][:-1], [0, 0, 0, 0]]
    assert verdict(result=result).harmed[0].startswith("result: at [5]")
    assert verdict(compiled=[]).harmed[0].startswith("compiled: ")
    assert verdict(status=1).harmed == ["status: at the top: 0 plain, 1 with depyf"]
    warned = judge.judge(plain, watched, f"a.py:1: UserWarning: depyf: text\n{errors}", work / "dump")
    assert warned.harmed == ["warning: a.py:1: UserWarning: depyf: text"]
    record = judge.record_of(work / "dump")
    (work / "dump" / record["compilations"][0]["guards_file"]).unlink()
    assert verdict().incomplete == [f"0/0 {record['compilations'][0]['name']}: no guards_file"]
    next((work / "dump").glob("*.kernel_0.py")).write_text("1 +")
    assert any("cannot be read" in line for line in verdict().incomplete)
    shutil.copy(next((work / "dump").glob("*.kernel_1.py")), work / "dump" / "a.kernel_9.py")
    assert any("files of output code, and Inductor" in line for line in verdict().incomplete)


@pytest.mark.long
def test_compiled_optimizers_are_unharmed(tmp_path):
    measure("optimizers", tmp_path)
