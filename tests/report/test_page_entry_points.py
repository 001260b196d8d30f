"""The report from Python: `depyf report`, `session.report`, `depyf run --report`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """
import torch  # a line that no record quotes
def doubled(x):
    return x * 2
compiled = torch.compile(doubled, backend="eager")
compiled(torch.ones(2))
"""
IN_A_BLOCK = f"""
import depyf
with depyf.prepare_debug("dump") as session:
    exec(compile({PROGRAM!r}, "program.py", "exec"))
    session.report("during.html")
print(session.report("after.html"))
"""


def python(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def is_page(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return text.startswith("<!DOCTYPE html>") and "doubled" in text and "Content-Security-Policy" in text


def test_run_writes_the_page_and_report_writes_it_again(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = python("-m", "depyf", "run", "--report", "-o", "dump", "program.py", folder=tmp_path)
    assert done.returncode == 0 and "report.html" in done.stderr, done.stderr
    assert is_page(tmp_path / "dump" / "report.html")
    done = python("-m", "depyf", "report", "dump", folder=tmp_path)
    assert done.stdout == "Wrote report.html.\n" and is_page(tmp_path / "report.html")
    done = python("-m", "depyf", "report", "dump", folder=tmp_path)
    assert done.returncode == 1 and "--force" in done.stderr
    # The source is found from anywhere, though the program's name is relative.
    (tmp_path / "elsewhere").mkdir()
    done = python("-m", "depyf", "report", "../dump", folder=tmp_path / "elsewhere")
    assert "a line that no record quotes" in (tmp_path / "elsewhere" / "report.html").read_text(encoding="utf-8")
    (tmp_path / "empty").mkdir()
    done = python("-m", "depyf", "report", "empty", "nothing.log", "-o", "other.html", folder=tmp_path)
    assert done.returncode == 1 and "no dump of depyf" in done.stderr and "nothing.log: cannot be read" in done.stderr
    assert not (tmp_path / "other.html").exists()


def test_a_session_writes_its_page_when_it_has_ended_and_before(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(IN_A_BLOCK)
    done = python("script.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "after.html\n"
    assert is_page(tmp_path / "during.html") and is_page(tmp_path / "after.html")
