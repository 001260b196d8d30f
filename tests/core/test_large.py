"""Long functions come back as they were written, in time linear in their length."""

from __future__ import annotations

import ast
import py_compile
import subprocess
import time
from pathlib import Path

import pytest

COMMAND = Path(__file__).parents[2] / "build/dev/depyf-decompile"

BODIES = {
    "assignments": ["x = a.b(c) + 1"],
    "branches": ["if a > {i}:", "    b = c", "c += 1"],
    "for loops": ["for i in a:", "    if i:", "        c(i)", "    b(i)"],
}


def decompiled(body: list[str], times: int, folder: Path) -> tuple[str, float]:
    lines = [line.format(i=i) for i in range(times) for line in body]
    source = folder / "long.py"
    source.write_text("def f(a, b, c):\n" + "".join(f"    {line}\n" for line in lines))
    pyc = py_compile.compile(str(source), cfile=str(folder / "long.pyc"), doraise=True)
    start = time.perf_counter()
    text = subprocess.run([COMMAND, pyc], capture_output=True, text=True, check=True, timeout=120).stdout
    return text, time.perf_counter() - start


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_long_functions(body: list[str], tmp_path: Path) -> None:
    text, seconds = decompiled(body, 10_000, tmp_path)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse((tmp_path / "long.py").read_text()))
    assert seconds < 20
