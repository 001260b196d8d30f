"""Tests the pytest plugin in a project of its own, which passes, and fails with an explanation for each planted
fault."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent.parent

PROJECT = """\
import pytest
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(8, 8)
        self.scale = 2.0

    def forward(self, x):
        h = torch.relu(self.fc(x))
        return h * self.scale

def calls(*sizes):
    compiled = torch.compile(Net(), backend="aot_eager")
    for size in sizes:
        compiled(torch.ones(size, 8))

@pytest.mark.depyf(no_breaks=True, recompiles=0)
def test_whole():
    calls(4, 4)

@pytest.mark.depyf(recompiles=0)
def test_steady():
    calls(4, 4)

def test_contract(compiled_contract):
    with compiled_contract():
        calls(4, 4)

def test_named_contract(compiled_contract):
    with compiled_contract("contracts/net.json"):
        calls(4)

def test_plain():
    pass
"""

# Maps a fault to (a text in the project, its replacement, the test that fails, a pattern in its explanation).
FAULTS = {
    "break": ("        return h", '        print("hello")\n        return h', "test_whole", 'a graph break at .*`print\\("hello"\\)`'),
    "size": ("def test_steady():\n    calls(4, 4)", "def test_steady():\n    calls(4, 5)", "test_steady", r"1 recompilation; at most 0 are allowed[\s\S]*x\.shape"),
    "value": ("        compiled(torch", "        compiled._orig_mod.scale += 1\n        compiled(torch", "test_whole", r"self\.scale"),
    "operator": ("torch.relu(", "torch.sigmoid(", "test_contract", r"`h = torch\.sigmoid\(self\.fc\(x\)\)` computes sigmoid .*and the contract has relu"),
    "uncompiled": ('torch.compile(Net(), backend="aot_eager")', "Net()", "test_whole", "nothing was compiled"),
}  # fmt: skip


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest in the project. Without an installed wheel, the plugin is loaded with `-p`, because no entry point
    registers it."""
    python = os.environ.get("DEPYF_PLUGIN_PYTHON")
    plugin = [] if python else ["-p", "depyf_pytest"]
    environment = {**os.environ, **({} if python else {"PYTHONPATH": str(ROOT / "python")})}
    command = [python or sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes the project and its contracts. Returns the project's folder."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_net.py").write_text(PROJECT)
    missing = run(folder, "-k", "contract")
    assert missing.returncode == 1 and "`pytest --depyf-write` writes it" in missing.stdout, missing.stdout
    written = run(folder, "--depyf-write")
    assert written.returncode == 0 and "5 passed" in written.stdout, written.stdout + written.stderr
    assert (folder / "test_contract.contract.json").is_file() and (folder / "contracts" / "net.json").is_file()
    return folder


def test_an_unchanged_project_passes(project: Path) -> None:
    (project / "test_net.py").write_text(PROJECT)
    done = run(project, "--strict-markers")
    assert done.returncode == 0 and "5 passed" in done.stdout, done.stdout + done.stderr


_LONG = {"size", "value", "uncompiled"}


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=pytest.mark.long if fault in _LONG else ()) for fault in FAULTS]
)
def test_a_planted_fault_fails_with_its_explanation(project: Path, fault: str) -> None:
    old, new, test, explanation = FAULTS[fault]
    assert old in PROJECT
    (project / "test_net.py").write_text(PROJECT.replace(old, new, 1))
    done = run(project, "-k", f"{test} or plain")
    assert done.returncode == 1 and f"FAILED test_net.py::{test}" in done.stdout, done.stdout + done.stderr
    assert "1 passed" in done.stdout and re.search(explanation, done.stdout), done.stdout
    assert "torch.__trace" not in done.stdout  # pytest's captured log must not show PyTorch's trace records


def test_a_wrong_marker_is_refused(tmp_path: Path) -> None:
    source = "import pytest\n\n@pytest.mark.depyf({})\ndef test_it():\n    pass\n"
    for arguments, message in (
        ("no_brakes=True", "takes no_breaks, recompiles, kernels, not no_brakes"),
        ("recompiles=-1", "recompiles has to be a number that is not negative, not -1"),
        ("", "needs one of no_breaks, recompiles, kernels"),
    ):
        (tmp_path / "test_it.py").write_text(source.format(arguments))
        done = run(tmp_path)
        assert done.returncode != 0 and message in done.stdout + done.stderr, done.stdout + done.stderr


def test_without_a_marker_neither_torch_nor_depyf_is_imported(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\n\ndef test_it():\n    assert 'depyf_pytest' in sys.modules\n"
        "    assert not {'torch', 'depyf', 'depyf._core'} & set(sys.modules)\n"
    )
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
