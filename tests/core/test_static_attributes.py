"""Tests of `__static_attributes__` (3.13 and later) with attributes that are stored only in code that the compiler left
out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from interpreters import interpreter

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
COMPILE = "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], doraise=True)"
SOURCE = """\
class A:
    def f(self):
        self.kept, self.__private = 1, 2
        with self.f() as self.opened:
            for self.each in ():
                self.noted: int = 3
    {left_out}
"""


def decompiled(source: str, folder: Path) -> str:
    python = interpreter((3, 13))
    if python is None:
        pytest.skip("no CPython 3.13 here")
    (folder / "m.py").write_text(source)
    subprocess.run([python, "-c", COMPILE, folder / "m.py", folder / "m.pyc"], check=True)
    return subprocess.run([COMMAND, folder / "m.pyc"], capture_output=True, text=True, check=True).stdout


def test_attributes_of_code_that_was_left_out_are_marked(tmp_path: Path) -> None:
    source = decompiled(SOURCE.format(left_out="if False:\n        def g(self): self.lost = 1"), tmp_path)
    [mark] = [line for line in source.splitlines() if "depyf: not equal" in line]
    assert mark.endswith("attributes of code that the compiler left out: lost")


def test_attributes_of_code_that_is_shown_are_not_marked(tmp_path: Path) -> None:
    assert "depyf" not in decompiled(SOURCE.format(left_out="def g(self): self.kept = 1"), tmp_path)


def test_an_attribute_with_the_same_end_does_not_stand_for_a_private_one(tmp_path: Path) -> None:
    left_out = "    def g(self):\n        self.x__a = 1\n        if False:\n            def h(self): self.__a = 2"
    assert "left out: __a" in decompiled(SOURCE.format(left_out=left_out.lstrip()), tmp_path)
