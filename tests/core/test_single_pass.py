"""Tests that blocks with `break` at several depths, and with `continue` in 3.8, are decompiled without a state machine,
and compile to the same bytecode."""

from __future__ import annotations

from pathlib import Path

import pytest

from decompiled import decompiled, unproved
from interpreters import VERSIONS, compiled, interpreter

# The source is written in the style of generated parsers. Only `while True` has an end at which all these `break`
# statements meet.
SINGLE_PASS = """
class Parser:
    def mark_regions(self):
        v_1 = self.cursor
        try:
            while True:
                v_2 = self.cursor
                try:
                    if not self.in_grouping(1):
                        raise Inner()
                    while True:
                        v_3 = self.cursor
                        try:
                            if not self.out_grouping(2):
                                raise Innermost()
                            self.cursor += 1
                            break
                        except Innermost:
                            pass
                        self.cursor = v_3
                        if not self.in_grouping(3):
                            raise Inner()
                        self.cursor += 1
                        break
                    break
                except Inner:
                    pass
                self.cursor = v_2
                if not self.out_grouping(4):
                    raise Outer()
                break
            self.start = self.cursor
        except Outer:
            pass
        self.cursor = v_1
        return True
"""

# In 3.8, `continue` out of a handler or a with statement compiles to other instructions than the end of that statement.
CONTINUES = """
def handler(a):
    for x in a:
        try:
            y = g(x)
        except E as e:
            if e.p:
                h()
                continue
            q()


def in_with(a):
    for x in a:
        with c:
            if x:
                continue
            y()


def inner_while(a):
    while a:
        while b():
            try:
                y = g(a)
            except E as e:
                if e.p:
                    break
                z()


def handler_in_with(a):
    while a:
        with b as c:
            try:
                y = g(a)
            except E as e:
                if e.x:
                    continue
                if e.p:
                    return 1
"""


def _compiled(version, source: str, folder: Path) -> tuple[str, Path]:
    """Returns (the interpreter of a version, the .pyc file that it compiles from a source)."""
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    return python, compiled(python, source, folder)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "%d.%d" % version)
def test_block_that_break_leaves(version, tmp_path):
    python, pyc = _compiled(version, SINGLE_PASS, tmp_path)
    text = decompiled(pyc, "--check", python)
    assert "# depyf: not equal" not in text
    assert "__state" not in text
    assert "while True:" in text
    assert unproved(pyc) == []


def test_continue_of_3_8(tmp_path):
    python, pyc = _compiled((3, 8), CONTINUES, tmp_path)
    text = decompiled(pyc, "--check", python)
    assert "# depyf: not equal" not in text
    assert text.count("continue") == 3
    assert unproved(pyc) == []
