"""What CPython did to the older tool: the texts of dis are not what a decompiler may read. Fails where it does."""

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
    # From 3.13 on dis shows the target of a jump as "to L1", where it was "to 24".
    extensions(version)
    done = subprocess.run(
        [interpreter(version), "-c", LABELS],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"to L\d", done.stdout)  # it is as it was when it broke
