"""Long functions are decompiled to their source, in time linear in their length."""

from __future__ import annotations

import ast
import importlib.util
import marshal
import py_compile
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = Path(__file__).parents[2] / "build/dev/depyf-decompile"

BODIES = {
    "assignments": ["x = a.b(c) + 1"],
    "two targets": ["x = y = a[{i}]"],
    "branches": ["if a > {i}:", "    b = c", "c += 1"],
    "for loops": ["for i in a:", "    if i:", "        c(i)", "    b(i)"],
    "while loops": ["while a:", "    b()", "    if c:", "        break", "    c()"],
    "loops with else": ["for i in a:", "    if i:", "        break", "else:", "    b({i})"],
    "with statements": ["with a:", "    b({i})"],
    "handlers": ["try:", "    b()", "except ValueError as e:", "    c(e)", "a()"],
    "generators": ["x = yield a({i})", "yield from b"],
    "finally": ["try:", "    b()", "finally:", "    c()", "a()"],
}

# Expressions of thousands of terms each.
EXPRESSIONS = {
    "a list": "[" + "a, b, " * 25_000 + "]",
    "a dict": "{" + "1: a, b: 2, " * 25_000 + "}",
    "a call": "a(" + "b, c, " * 25_000 + ")",
    "a text": "f'" + "{a} and {b} " * 2_500 + "'",
    "conditions": " and ".join(["a", "b"] * 25_000),
    "comparisons": " < ".join(["a", "b"] * 10_000),
}


def decompiled(body: list[str], times: int, folder: Path) -> tuple[str, float]:
    lines = [line.format(i=i) for i in range(times) for line in body]
    source = folder / "long.py"
    source.write_text("def f(a, b, c):\n" + "".join(f"    {line}\n" for line in [*lines, "return a"]))
    pyc = py_compile.compile(str(source), cfile=str(folder / "long.pyc"), doraise=True)
    start = time.perf_counter()
    text = subprocess.run([COMMAND, pyc], capture_output=True, text=True, check=True, timeout=120).stdout
    return text, time.perf_counter() - start


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_long_functions(body: list[str], tmp_path: Path) -> None:
    text, seconds = decompiled(body, 5_000, tmp_path)
    same = ast.dump(ast.parse(text)) == ast.dump(ast.parse((tmp_path / "long.py").read_text()))
    assert same  # a comparison of so long texts would take minutes to print
    assert seconds < 20


# The lines of functions that are one long statement; the depth of its tree grows with its length.
CHAINS = {
    "elif": [
        "if a == 0:",
        "    b()",
        *(f"{word}" for i in range(1, 2_500) for word in (f"elif a == {i}:", f"    b({i})")),
        "c()",
    ],
    "handlers": ["try:", "    b()", *(word for i in range(2_500) for word in (f"except a[{i}]:", f"    b({i})"))],
}


@pytest.mark.parametrize("body", CHAINS.values(), ids=CHAINS.keys())
def test_long_statements(body: list[str], tmp_path: Path) -> None:
    text, seconds = decompiled(body, 1, tmp_path)
    assert "# depyf" not in text
    assert text.splitlines()[1:-1] == ["    " + line for line in body]
    assert seconds < 20


def nested(levels: int) -> ast.Module:
    """Returns a module with a function of `levels` nested `if` statements, none of which can be joined with the next
    one."""
    body: list[ast.stmt] = ast.parse("b()").body
    for level in range(levels):
        test = ast.parse(f"a == {level}", mode="eval").body
        body = [*ast.parse("c()").body, ast.If(test, body, [])]
    module = ast.parse("def f(a, b, c): pass")
    module.body[0].body = body
    return ast.fix_missing_locations(module)


@pytest.mark.parametrize("levels", [97, 98, 99, 500, 1_000])
def test_what_the_parser_finds_too_deep(levels: int, tmp_path: Path) -> None:
    # The parser accepts 99 levels of indentation. Deeper code must be printed in another form that does the same.
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        code = compile(nested(levels), "deep.py", "exec")
    finally:
        sys.setrecursionlimit(limit)
    pyc = tmp_path / "deep.pyc"
    pyc.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    text = subprocess.run([COMMAND, pyc], capture_output=True, text=True, check=True, timeout=60).stdout
    assert ("nested too deeply" in text) == (levels > 98)
    logs = []
    for program in (code, compile(text, "again.py", "exec")):
        scope: dict = {}
        exec(program, scope)
        log: list[str] = []
        scope["f"](levels - 1, lambda log=log: log.append("b"), lambda log=log: log.append("c"))
        logs.append(log)
    assert logs[0] == logs[1] and "c" in logs[0]


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS.keys())
def test_long_expressions(expression: str, tmp_path: Path) -> None:
    source = tmp_path / "long.py"
    source.write_text(f"x = {expression}\n")
    pyc = py_compile.compile(str(source), cfile=str(tmp_path / "long.pyc"), doraise=True)
    # Address space in KiB: 64 times the file, 64 MiB, and the reserved stacks of threads.
    space = (64 * Path(pyc).stat().st_size >> 10) + (64 << 10) + (256 << 10)
    limit = f"ulimit -v {space}; exec {COMMAND} {pyc}"
    done = subprocess.run(["bash", "-c", limit], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    same = ast.dump(ast.parse(done.stdout)) == ast.dump(ast.parse(source.read_text()))
    assert same
