"""Tests of changes of code objects: CPython runs the changed code as requested, and everything else stays the same."""

from __future__ import annotations

import ast
import dis
import subprocess
import sys
import types
from pathlib import Path

import pytest

from depyf import _core

# Modules with many exception handlers, long jumps and tables of every kind.
MODULES = """
    argparse ast asyncio/base_events collections/__init__ contextlib datetime decimal difflib enum functools inspect
    json/decoder logging/__init__ pickle sre_compile tarfile typing
    test/test_asyncgen test/test_except_star test/test_generators test/test_grammar test/test_patma test/test_with
""".split()


def library(path: str) -> Path:
    command = [path, "-I", "-c", "import os; print(os.path.dirname(os.__file__))"]
    return Path(subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip())


def test_what_compilers_make_is_sound_and_goes_together_again(
    python: tuple[tuple[int, int], str], tmp_path: Path
) -> None:
    _, path = python
    folder = library(path)
    sources = [folder / f"{name}.py" for name in MODULES if (folder / f"{name}.py").exists()]
    assert len(sources) > 15
    script = (
        "import py_compile, sys\nfor i, s in enumerate(sys.argv[2:]): py_compile.compile(s, f'{sys.argv[1]}/{i}.pyc')"
    )
    subprocess.run([path, "-I", "-c", script, str(tmp_path), *map(str, sources)], check=True)
    files = sorted(tmp_path.glob("*.pyc"))
    assert len(files) > 15
    complaints = [words for file in files for words in _core.recode_pyc(file.read_bytes())]
    assert not complaints, f"{len(complaints)}:\n" + "\n".join(complaints[:20])


def many_constants() -> types.CodeType:
    """Returns code of a module with more than 256 constants, in which a further constant needs an EXTENDED_ARG."""
    lines = [f"values.append({1000 + i})" for i in range(300)]
    text = "\n".join(
        ["values = []", *lines, "for item in range(3):", "    try:", "        out(item)", "        item / zero"]
        + ["    except ZeroDivisionError as error:", "        out(type(error), error.__traceback__.tb_lineno)"]
    )
    return compile(text, "<many>", "exec", dont_inherit=True)


def test_names_are_bound_where_instructions_have_no_room() -> None:
    code = many_constants()
    seen: list[object] = []
    bound = _core.bind_names(code, {"out": lambda *what: seen.append(what), "zero": 0})
    assert len(bound.co_code) > len(code.co_code)
    namespace: dict[str, object] = {}
    exec(bound, namespace)
    assert "out" not in namespace and "zero" not in namespace
    assert seen == [line for item in range(3) for line in ((item,), (ZeroDivisionError, 305))]
    assert [one for _, _, one in code.co_lines() if one] != []
    assert {line for *_, line in bound.co_lines()} == {line for *_, line in code.co_lines()}
    if sys.version_info >= (3, 11):
        assert set(bound.co_positions()) == set(code.co_positions())


def test_constants_stay_the_very_same_objects() -> None:
    held = object()

    def outer():
        return lambda: (wanted, 1.5, held)  # noqa: F821

    code = outer.__code__.replace(co_consts=(*outer.__code__.co_consts, held))
    bound = _core.bind_names(code, {"wanted": held})
    # only the lambda's code differs
    assert [one is two for one, two in zip(bound.co_consts, code.co_consts)].count(False) == 1
    assert bound.co_consts[-1] is held
    (inner,) = (const for const in bound.co_consts if isinstance(const, types.CodeType))
    assert inner.co_consts[-1] is held
    assert _core.bind_names(code, {"absent": 1}) is code


def test_code_moves_to_another_file_and_line() -> None:
    code = compile("def f(x):\n    return [\n        y for y in x]\n", "<here>", "exec", dont_inherit=True)
    moved = _core.moved(code, "<there>", 10)
    (inner, inner_moved) = (next(c for c in one.co_consts if isinstance(c, types.CodeType)) for one in (code, moved))
    assert moved.co_filename == inner_moved.co_filename == "<there>"
    lines = [[None if line is None else line + 10 for *_, line in one.co_lines()] for one in (code, inner)]
    assert [[line for *_, line in one.co_lines()] for one in (moved, inner_moved)] == lines
    assert _core.moved(code, "<here>") is code


def test_nested_code_of_another_file_does_not_move() -> None:
    foreign = compile("lambda: 0", "<elsewhere>", "eval", dont_inherit=True)
    code = compile("def f(x):\n    return x\n", "<here>", "exec", dont_inherit=True)
    code = code.replace(co_consts=(*code.co_consts, foreign))
    moved = _core.moved(code, "<there>", 10, "renamed")
    assert moved.co_consts[-1] is foreign
    assert (moved.co_name, moved.co_consts[0].co_name) == ("renamed", "f")
    assert (moved.co_firstlineno, moved.co_consts[0].co_firstlineno) == (11, 11)


def test_statements_are_raised_to_the_line_of_the_def() -> None:
    text = "def f(x):\n    y = x; z = y\n" + "\n" * 300 + "    if z:\n        return (y,\n            x)\n"
    code = compile(text, "<text>", "exec", dont_inherit=True).co_consts[0]
    raised = _core.raised_by_one_line(code)
    assert raised.co_code == code.co_code
    below = lambda one: [line for *_, line in one.co_lines() if line is not None and line > 1]  # noqa: E731
    assert sorted(set(below(raised)) | {1}) == sorted({line - 1 for line in below(code)})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda code: code.replace(co_stacksize=0), "values exceed the stack size of"),
        (lambda code: code.replace(co_consts=()), "out of range"),
        (lambda code: code.replace(co_code=code.co_code[:-2]), "control runs past the end of the code"),
        (lambda code: code.replace(co_code=bytes((dis.opmap["POP_TOP"], 0)) + code.co_code), "takes more"),
    ],
)
def test_unsound_code_is_named(change, words: str) -> None:
    def function(x):
        def inner(y):
            y.z = 1
            return y + 12345

        return inner

    index = next(i for i, const in enumerate(function.__code__.co_consts) if isinstance(const, types.CodeType))
    consts = list(function.__code__.co_consts)
    assert _core.problem(function.__code__) is None
    consts[index] = change(consts[index])
    problem = _core.problem(function.__code__.replace(co_consts=tuple(consts)))
    assert problem is not None
    assert problem[0] == "inner" and words in problem[1]


def test_nothing_else_changes_code_objects() -> None:
    package = Path(_core.__file__).parent
    places = []
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            replaces = isinstance(node.func, ast.Attribute) and node.func.attr == "replace"
            if replaces and any((keyword.arg or "co_").startswith("co_") for keyword in node.keywords):
                places.append(f"{path.name}:{node.lineno}")
    assert not places, f"code objects are changed in src/recode alone, not in {', '.join(places)}"
