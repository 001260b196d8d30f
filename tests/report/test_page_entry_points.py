"""Tests of the report's entry points in Python: `depyf report`, `session.report`, `depyf run --report`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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
session.report("redacted.html", redact=True)
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
    # The source file is found from any working directory, although the program's path in the dump is relative.
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
    redacted = (tmp_path / "redacted.html").read_text(encoding="utf-8")
    assert redacted.startswith("<!DOCTYPE html>") and "doubled" not in redacted and str(tmp_path) not in redacted


NOTEBOOK = """
import torch, depyf
def scaled(x):
    y = torch.relu(x) + 1
    print("</script><b>hostile</b>")
    return y * 2
compiled = torch.compile(scaled, backend="aot_eager")
compiled(torch.ones(3)); compiled(torch.ones(4))
explanation = depyf.explain(compiled)
for name, item in (("function", explanation), ("entry", explanation.entries[0])):
    with open(name + ".html", "w", encoding="utf-8") as file:
        file.write("<!DOCTYPE html><meta charset=utf-8><body>" + item._repr_html_())
from depyf.explanation import report
report.FRAME_SIZE_MAX = 1000
print(explanation._repr_html_()[:300])
"""


def test_an_explanation_shows_its_page_in_a_notebook(tmp_path: Path, browser: Any) -> None:
    (tmp_path / "cell.py").write_text(NOTEBOOK)
    done = python("cell.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "too much for a notebook" in done.stdout and "<iframe" not in done.stdout
    trouble: list[str] = []
    page = browser.new_context(offline=True, viewport={"width": 1200, "height": 900}).new_page()
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto((tmp_path / "function.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("main.view-verdict > *").first.wait_for()
    text = frame.locator("main").inner_text()
    # The page has the facts from resume functions and from PyTorch's texts, although nothing recorded the run.
    assert (
        "1\u00a0graph break" in text
        and "cell.py:5" in text
        and "prepare_debug" in text
        and "expected 3, actual 4" in text
    )
    frame.locator("nav a", has_text="Explorer").click()
    row = frame.locator('[data-pane="source"] .row:has(.number:text-is("4"))')
    row.hover()
    assert frame.locator('[data-pane="captured"] .row.lit').count() > 0
    row.click()
    frame.locator("nav a", has_text="Flow").click()
    assert frame.locator("main.view-flow .flow-function .flow-function").count() == 1
    frame.locator("main.view-flow").get_by_role("link", name="cell.py:5", exact=True).click()
    frame.locator("main.view-source > *").first.wait_for()
    assert page.url.endswith("function.html"), "links in the frame lead to places in the frame"
    page.goto((tmp_path / "entry.html").as_uri())
    frame.locator("main.view-verdict > *").first.wait_for()
    assert "compilation 0/0" in frame.locator("main").inner_text()
    assert page.locator("body > b, .depyf > b").count() == 0 and trouble == []
