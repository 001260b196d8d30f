"""Tests of code whose positions are missing or equal for all instructions, like that of tools that compile a syntax
tree."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from interpreters import interpreter

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
# A program that compiles a source to a .pyc file. `equal` gives all nodes of the tree the position that
# ast.fix_missing_locations gives to nodes without one, and `none` removes the table of lines from the code objects.
COMPILE = """
import ast, importlib.util, marshal, sys, types
source, target, positions = sys.argv[1:]
tree = ast.parse(open(source).read())
if positions == "equal":
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = 1, 0, 1, 0
def without_lines(code):
    constants = [without_lines(each) if isinstance(each, types.CodeType) else each for each in code.co_consts]
    lines = "co_linetable" if hasattr(code, "co_linetable") else "co_lnotab"
    return code.replace(co_consts=tuple(constants), **{lines: b""})
code = compile(tree, "m", "exec")
if positions == "none":
    code = without_lines(code)
open(target, "wb").write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
"""
SOURCE = """\
def loops(series, first, second):
    for item in first:
        assert series[item] == 1
    for item in second:
        assert series[item].equals(first)


def assertions(self, term, assoc):
    assert self.productions == [None], "too late"
    if term in self.precedence:
        raise GrammarError(term)
    if assoc not in ("left", "right"):
        raise GrammarError(assoc)
    self.precedence[term] = assoc


async def sends(self, data):
    if isinstance(data, str):
        await self.queue.put({"text": data})
    else:
        await self.queue.put({"bytes": data})


async def handlers(queue):
    try:
        while True:
            print(await queue.get())
    except CancelledError:
        raise
    except:
        print_exc()
        raise


def returns(retries):
    if retries is None:
        return 10
    if hasattr(retries, "total"):
        total = retries.total
        if total is None:
            return 10
        if isinstance(total, int):
            return max(0, total)
    attempts = retries.attempts
    if isinstance(attempts, int):
        return max(0, attempts - 1)
    return 10


def functions(is_sorted):
    if is_sorted:

        def items(table):
            return sorted(table)

    else:

        def items(table):
            return list(table)

    return items


def operands(self):
    return {"name": self.name, "source": self.source.to_dict() if self.source is not None else None}


def leaves(self, data):
    if not self.known:
        return super().describe(data)
    try:
        self.connect()
    except ValueError:
        warn(self)
        return super().describe(data)
    self.send(data)
    return super().describe(data)


def locks(self, other):
    if not self.pooled:
        with self.lock:
            if not self.closed:
                previous = self.response
                self.refresh(self)
                self.response = previous
    else:
        self.refresh(other)
"""


@pytest.mark.parametrize("positions", ["equal", "none"])
@pytest.mark.parametrize("minor", range(8, 16))
def test_false_positions_cost_no_function_its_form(minor: int, positions: str, tmp_path: Path) -> None:
    python = interpreter((3, minor))
    if python is None:
        pytest.skip(f"no CPython 3.{minor} here")
    (tmp_path / "m.py").write_text(SOURCE)
    subprocess.run([python, "-c", COMPILE, tmp_path / "m.py", tmp_path / "m.pyc", positions], check=True)
    done = subprocess.run([COMMAND, "--prove", tmp_path / "m.pyc"], capture_output=True, text=True, check=True)
    assert "depyf: not" not in done.stdout
    assert "__temp_" not in done.stdout
    # Each function is still a definition, including the two nested functions that `functions` returns.
    assert done.stdout.count("def ") == SOURCE.count("def ")
