"""Tests that the program which the page's "Copy as program" copies can be run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import page_programs

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

PROGRAM = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(5, 6)
        self.linear = torch.nn.Linear(6, 4)

    def forward(self, indices, mask, scale):
        h = self.linear(self.table(indices)) * scale
        return torch.where(mask, h, float("inf")).clamp(max=3.0), h.transpose(0, 1)

def plain(x):
    y = torch.sin(x) + 1
    print("a break")
    return y

def main():
    net = torch.compile(Net(), backend="aot_eager")
    for rows in (3, 7):
        first, second = net(torch.zeros(rows, dtype=torch.int64), torch.ones(rows, 4, dtype=torch.bool), 0.5)
        (first.sum() + second.sum()).backward()
    torch.compile(plain, backend="eager")(torch.ones(4, 6).t())
"""
RUNNER = """
import sys
sys.path[:0] = [sys.argv[1], "."]
import depyf, program
with depyf.prepare_debug("dump"):
    program.main()
"""


def test_a_copied_program_runs(tmp_path: Path, browser: Any) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_TRACE": str(tmp_path / "logs")}
    command = [sys.executable, "-W", "ignore", "-c", RUNNER, str(page_programs.ROOT / "python")]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True, timeout=300)
    context = browser.new_context(offline=True, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    programs = {}
    for name in ("dump", "logs"):
        page_programs.write_page(tmp_path / f"{name}.html", tmp_path / name)
        for compilation in ("0/0", "0/1", "1/0"):
            page.goto("about:blank")
            page.goto(f"{(tmp_path / name).as_uri()}.html#c={compilation}")
            page.get_by_role("button", name="Copy as program").click()
            page.get_by_role("button", name="Copy", exact=True).click()
            page.locator("dialog [role=status]", has_text="copied").wait_for()
            programs[name, compilation] = page.evaluate("navigator.clipboard.readText()")
            assert programs[name, compilation] == page.locator("dialog textarea").input_value()
    # The program keeps the strides of a transposed input, and replaces a dynamic size by the recorded size.
    assert "torch.empty_strided((6, 4,), (1, 6,)" in programs["dump", "1/0"]
    assert re.search(r"s\d+ = 7$", programs["dump", "0/1"], re.MULTILINE)
    page.goto("about:blank")
    page.goto(f"{(tmp_path / 'dump').as_uri()}.html#view=verdict")
    page.get_by_role("button", name="the graph before it as a program").click()
    assert "torch.sin(" in page.locator("dialog textarea").input_value()
    page_programs.write_page(tmp_path / "redacted.html", "--redact", tmp_path / "dump")
    page.goto(f"{tmp_path.as_uri()}/redacted.html#c=0/0")
    page.locator(".explorer").wait_for()
    assert page.get_by_role("button", name="Copy as program").count() == 0
    context.close()
    for (name, compilation), program in programs.items():
        path = tmp_path / f"{name}_{compilation.replace('/', '_')}.py"
        path.write_text(program, encoding="utf-8")
    script = "import runpy, sys\nfor path in sys.argv[1:]: print(path); runpy.run_path(path, run_name='__main__')"
    paths = [f"{name}_{compilation.replace('/', '_')}.py" for name, compilation in programs]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *paths],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("outputs: ") == 6 and done.stdout.count("backward: done") == 4, done.stdout
    assert "outputs: [(3, 4), (4, 3)]" in done.stdout and "outputs: [(7, 4), (4, 7)]" in done.stdout


BREAKS = """
from __future__ import annotations

import math

import torch
from torch import nn

WIDTH = 6
unused = open


class Scaled(nn.Module):
    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x, mode, factor=2.0, *, shift):
        x = self.linear(x)
        print("here", mode)  # the break of the module
        return helper(x, factor) + shift if mode == "a" else x


def helper(x, factor):
    return x * math.sqrt(factor)


@torch.compile(backend="eager")
def looped(x, sizes):
    for _ in sizes:
        if x.sum() > 0:  # the break in the loop
            x = x + 1
    return x


def main():
    module = torch.compile(Scaled(), backend="eager")
    for rows in (3, 5):
        module(torch.ones(rows, 6), "a", shift=1)
    looped(torch.ones(2), {1: 2})


if __name__ == "__main__":
    main()
"""


def test_the_program_of_a_break_shows_it(tmp_path: Path, browser: Any) -> None:
    """The reproduction has the function with its class and its inputs. The reproduction of a function without recorded
    inputs has the whole file."""
    (tmp_path / "breaks.py").write_text(BREAKS)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(page_programs.ROOT / "python")}
    command = [sys.executable, "-W", "ignore", "-m", "depyf", "run", "-o", "dump", "breaks.py"]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, capture_output=True, timeout=300)
    page_programs.write_page(tmp_path / "page.html", tmp_path / "dump")
    page_programs.write_page(tmp_path / "redacted.html", "--redact", tmp_path / "dump")
    page = browser.new_context(offline=True).new_page()
    programs = {}
    for comment in ("the break of the module", "the break in the loop"):
        page.goto("about:blank")
        page.goto(f"{(tmp_path / 'page.html').as_uri()}#view=verdict")
        item = page.locator(".action", has=page.get_by_role("button", name="copy as reproduction")).filter(
            has_text=comment
        )
        item.get_by_role("button", name="copy as reproduction").click()
        programs[comment] = page.locator("dialog textarea").input_value()
        about = page.locator("dialog p.dim").inner_text()
        assert ("whole file" in about) == (comment == "the break in the loop")
    alone, whole = programs["the break of the module"], programs["the break in the loop"]
    assert "class Scaled" in alone and "def helper" in alone and "WIDTH = 6" in alone and "import math" in alone
    assert "looped" not in alone and "unused" not in alone and "def main" not in alone
    assert "def main" in whole
    page.goto("about:blank")
    page.goto(f"{(tmp_path / 'redacted.html').as_uri()}#view=verdict")
    page.locator(".action").first.wait_for()
    assert page.get_by_role("button", name="copy as reproduction").count() == 0
    # A file that has changed is not the source of the run, so only the lines that the record quotes are known.
    (tmp_path / "breaks.py").write_text(BREAKS.replace("x = self.linear(x)", "x = self.linear(x) + 1"))
    page_programs.write_page(tmp_path / "changed.html", tmp_path / "dump")
    page.goto(f"{(tmp_path / 'changed.html').as_uri()}#view=verdict")
    page.get_by_role("button", name="copy as reproduction").first.click()
    quoted = page.locator("dialog textarea").input_value()
    assert (
        "This program does not run as it is: the record has only these lines" in quoted
        and "class Scaled" not in quoted
        and "Missing: the rest of breaks.py" in (page.locator("dialog p.dim").inner_text())
    )
    page.context.close()
    for (comment, program), name in zip(programs.items(), ("alone.py", "whole.py"), strict=True):
        (tmp_path / name).write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-W", "ignore", name],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert "Graph break" in done.stderr and f"# {comment}" in done.stderr
