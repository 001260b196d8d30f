"""Modules whose assertions pytest rewrote are decompiled to the assert statements of their source."""

from __future__ import annotations

import ast
import importlib.util
import marshal
import os
import subprocess
from pathlib import Path

from _pytest.assertion.rewrite import rewrite_asserts

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
MAGIC = importlib.util.MAGIC_NUMBER

SOURCE = '''
"""A module with assertions."""
from __future__ import annotations
import os


def simple(a, f):
    assert a
    assert not a
    assert a == 1
    assert f() == 2, "message"
    assert a, f"message {a}"
    assert a[0] is None
    assert isinstance(a, int)
    assert a.b.c == f().d
    assert a + 1 == 2
    assert (n := f()) == n
    assert all(x for x in a)
    return a


def combined(a, b, f):
    assert a and f()
    assert a in [1, 2] or f() < 3
    assert a and b and f()
    assert a or (b and f()) or not a
    assert 1 < a < 3
    assert f(a, *[1], b=2, **{}) is None


class Test:
    def test(self, items):
        for item in items:
            assert item
        while items:
            assert items.pop() != 1, items
        if items:
            assert items
        else:
            assert not items
        with items:
            assert items == []
        try:
            assert items
        except AssertionError:
            assert os
'''


def decompiled(tmp_path: Path, tree: ast.Module) -> str:
    pyc = tmp_path / "module.pyc"
    code = compile(tree, "module.py", "exec", dont_inherit=True)
    pyc.write_bytes(MAGIC + bytes(12) + marshal.dumps(code))
    return subprocess.run([COMMAND, "-q", str(pyc)], capture_output=True, text=True, check=True).stdout


def rewritten(source: str) -> ast.Module:
    tree = ast.parse(source)
    rewrite_asserts(tree, source.encode())
    return tree


def test_assertions_fold_back_to_those_of_the_source(tmp_path: Path) -> None:
    text = decompiled(tmp_path, rewritten(SOURCE))
    plain = decompiled(tmp_path, ast.parse(SOURCE))
    mark, _, rest = text.partition("\n")
    assert mark.startswith("# depyf: not equal: pytest rewrote the assertions of this module; they are shown")
    assert "@py" not in text and "_py_" not in text
    # The compiler turns the list in `a in [1, 2]` into a tuple, but not in the statements that pytest writes.
    assert decompiled(tmp_path, ast.parse(rest)) == plain


def test_what_pytest_does_not_write_stays(tmp_path: Path) -> None:
    tree = rewritten("def f(a):\n    assert a == 1\n    marker()\n")
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    # Another statement stands among those of the assertion, where pytest never writes one.
    function.body.insert(2, ast.fix_missing_locations(ast.parse("other()").body[0]))
    text = decompiled(tmp_path, tree)
    assert "# depyf: not equal: pytest rewrote the assertions of this module; those that could be folded" in text
    assert "other()" in text and "raise AssertionError" in text
    ast.parse(text)
