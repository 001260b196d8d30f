"""`--align lines` puts each statement on the line that it had in the source, and `--lines` lists that line; both for
all versions."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interpreters import VERSIONS, compiled, interpreter

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
SOURCE = '''\
"""The docstring of a module."""



import os

@first
@second(1,
        2)

def function(a, b=1):
    """The docstring of a function
    of two lines.
    """
    x = 1; y = 2
    if a: return b

    while True:
        try:
            x()


        except ValueError:

            if y: break
            y()
        finally:

            os.close(x)
    for a in b: a = b; b = a
    return [
        1,

        y,
        os.stat(3)]
class First: x = 1
class Second:
    """The docstring of a class."""
    y = 3

    def method(self): return 1
    def other(self):
        global name

        name = self.method(); self.x = [
            name]


    z = len(function(1,
                     2))
'''


def run(*arguments: str) -> str:
    return subprocess.run([COMMAND, "-q", *arguments], capture_output=True, text=True, check=True).stdout


def statements(source: str) -> list[tuple[str, int]]:
    return [(type(node).__name__, node.lineno) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "%d.%d" % version)
def test_each_statement_is_on_its_line(version: tuple[int, int], tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    pyc = compiled(python, SOURCE, tmp_path)
    aligned = run("--align", "lines", str(pyc))
    assert statements(aligned) == statements(SOURCE), aligned
    assert statements(run(str(pyc))) != statements(SOURCE)


def test_the_map_has_the_original_line(tmp_path: Path) -> None:
    pyc = str(compiled(sys.executable, SOURCE, tmp_path))
    lines = run(pyc).splitlines()
    nested = {row["name"]: row["lines"] for row in json.loads(run("--lines", pyc))["nested"]}
    original = {lines[row["line"] - 1].strip(): row.get("original") for row in nested["Second.other"]}
    assert original == {"global name": None, "name = self.method()": 45, "self.x = [": 45}


def test_the_report_lists_statements_on_other_lines(tmp_path: Path) -> None:
    pyc = compiled(sys.executable, SOURCE, tmp_path)
    [report] = json.loads(run("--json", "--align", "lines", str(pyc)))["files"]
    assert report["not_aligned"] == [] and report["aligned"] > 25 and report["without_line"] < 5
    make = (
        "import ast, importlib.util, marshal, sys\n"
        "tree = ast.parse('a = 1\\nif b:\\n    c()\\nd = 2\\n')\n"
        "ast.increment_lineno(tree.body[0], 5)\n"
        "code = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(tree, 'x', 'exec'))\n"
        "open(sys.argv[1], 'wb').write(code)\n"
    )
    subprocess.run([sys.executable, "-c", make, str(pyc)], check=True)
    [report] = json.loads(run("--json", "--align", "lines", str(pyc)))["files"]
    lines = report["source"].splitlines()
    assert lines[5:] == ["a = 1", "if b: c()", "d = 2"]
    assert report["not_aligned"] == [
        {"line": 7, "original": 2},
        {"line": 7, "original": 3},
        {"line": 8, "original": 4},
    ]


def test_lines_that_a_file_makes_up_give_no_endless_text(tmp_path: Path) -> None:
    make = (
        "import importlib.util, marshal, sys\n"
        "code = compile('a = 1\\nb = 2\\n', 'x', 'exec').replace(co_firstlineno=2**31 - 10)\n"
        "open(sys.argv[1], 'wb').write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))\n"
    )
    pyc = tmp_path / "module.pyc"
    subprocess.run([sys.executable, "-c", make, str(pyc)], check=True)
    assert run("--align", "lines", str(pyc)).split() == ["a", "=", "1", "b", "=", "2"]


def test_only_lines_can_be_aligned() -> None:
    done = subprocess.run([COMMAND, "--align", "columns", "x.pyc"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--align" in done.stderr


def test_the_standard_library_is_on_its_lines() -> None:
    measure = [sys.executable, str(ROOT / "tools" / "roundtrip" / "aligned.py"), "--command", COMMAND, "--sample", "25"]
    done = subprocess.run(measure, capture_output=True, text=True, check=True)
    files, _, right, _, total, *_ = done.stdout.split()
    assert int(files) == 25 and int(total) > 1000
    assert int(right) >= 0.97 * int(total), done.stdout
