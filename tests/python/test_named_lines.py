"""Compares the lines of graphs and of Inductor's IR that define a node or an operation with patterns."""

from __future__ import annotations

import random
import re

import pytest

from depyf import _core

PATTERNS = {
    False: re.compile(r"\n[ \t]+([A-Za-z_]\w*)(?::| =)"),
    True: re.compile(r"\n(op\w+?): "),
}
GRAPH = 'class G:\n    def forward(self):\n        add: "f32[4]" = f(x)\n\n        # x = y\n        b = a;  a = None\n        return b\n'
IR = "op0: SchedulerNode(ComputedBuffer)\nop0.writes = []\nop0_op1: Fused\nop1: N\n    op2: X\n"


def expected(text, of_ir):
    for found in PATTERNS[of_ir].finditer(text):
        end = text.find("\n", found.end())
        yield found[1], len(text) if end < 0 else end, text.count("\n", 0, found.end()) + 1


def test_lines_of_a_graph_and_of_the_ir():
    assert [row[::2] for row in _core.named_lines(GRAPH, False)] == [("add", 3), ("b", 6)]
    assert [row[::2] for row in _core.named_lines(IR, True)] == [("op0_op1", 3), ("op1", 4)]


@pytest.mark.parametrize("of_ir", [False, True])
def test_they_are_those_that_the_pattern_finds(of_ir):
    chance = random.Random(7)
    parts = [
        "\n",
        "\n    ",
        "\n\tadd",
        "\nop1: ",
        "\nop",
        "add",
        "op_1",
        "é",
        "3",
        ":",
        ": ",
        " =",
        " = ",
        "#",
        "(",
        "# 😀 ",
        "\r",
    ]
    some = 0
    for _ in range(5000):
        text = "".join(chance.choices(parts, k=chance.randrange(20)))
        found = _core.named_lines(text, of_ir)
        assert found == list(expected(text, of_ir)), repr(text)
        some += bool(found)
    assert some > 200
