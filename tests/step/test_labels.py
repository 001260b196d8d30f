"""Tests that depyf handles two facts that broke the older depyf: `dis` shows labels as the targets of jumps, and a
function's name may differ from the name in its code."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from interpreters import interpreter

ROOT = Path(__file__).parents[2]
LABELS = """
import dis, json
import depyf

def jumps(items, limit):
    total = 0
    for item in items:
        if item > limit:
            continue
        try:
            total += limit // item
        except ZeroDivisionError:
            break
    else:
        return -total
    return total

targets = [one.argrepr for one in dis.get_instructions(jumps) if "JUMP" in one.opname]
source = depyf.decompile(jumps)
made = depyf.compile_like(source, jumps.__code__)
jumps.__code__, own = made, jumps.__code__
results = [jumps([1, 9, 2], 3), jumps([1, 0, 2], 3)]
jumps.__code__ = own
assert results == [jumps([1, 9, 2], 3), jumps([1, 0, 2], 3)]
assert depyf.prove(own, made)
assert "not equal" not in source and "for item in items" in source, source
print(json.dumps(targets))
"""


@pytest.mark.parametrize("version", [(3, 13), (3, 14)])
def test_labels_in_the_texts_of_dis(version, extensions):
    # From 3.13 on, `dis` shows the target of a jump as "to L1"; earlier versions show "to 24".
    extensions(version)
    done = subprocess.run(
        [interpreter(version), "-c", LABELS],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"to L\d", done.stdout)  # the text "to L1" broke the older depyf


NAMES = """
import depyf


def outer(x):
    def inner(y):
        return [y + x for _ in (1,)]

    return inner(2)


# As Dynamo does it: a resume function is named by the global that it would be called by.
names = {"outer.<locals>.inner": "__resume_at_4_1"}
code = outer.__code__.replace(co_consts=tuple(names.get(one, one) for one in outer.__code__.co_consts))
assert code != outer.__code__
source = depyf.decompile(code)
made = depyf.compile_like(source, code)
assert "proved equivalent" in source and "not proved" not in source, source
assert depyf.prove(code, made)
outer.__code__ = made
assert outer(3) == [5]
"""


def test_a_function_named_otherwise_than_where_it_stands(extensions):
    # Up to 3.10, MAKE_FUNCTION takes the name of a function from a constant, which may differ from the name in the
    # code. PyTorch 2.9 creates such resume functions on 3.10.
    extensions((3, 10))
    done = subprocess.run(
        [interpreter((3, 10)), "-c", NAMES],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )
    assert done.returncode == 0, done.stderr
