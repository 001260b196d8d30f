"""State machines do what the code does, down to the contexts of the exceptions that they raise."""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import depyf
from interpreters import interpreter

SOURCE = """
def connect(infos, nested, addresses, act):
    from contextlib import nullcontext
    family = None
    for family in act(infos):
        try:
            while nested:
                try:
                    if len(addresses) == 2:
                        break
                    act(family)
                finally:
                    with nullcontext():
                        if family == "g":
                            break
                    nested = False
            act(family)
        except OSError as error:
            seen(error)
            try:
                act(family)
            except ValueError as other:
                seen(other)
                act(family)
        except ValueError:
            act(family)
            raise
        else:
            break
    else:
        raise
    return family
"""
ASYNC = SOURCE.replace("def connect", "async def connect").replace("    return family", "    yield family")

# From 3.12 on, the inlined comprehension uses the function's local `family`, which has a value before and after it.
COMPREHENSION = SOURCE.replace(
    "    family = None\n", "    family = 0\n    names = [family for family in infos if family]\n"
)
COMPREHENSION = COMPREHENSION.replace("    return family\n", "    return family, names\n")
COMMAND = Path(__file__).resolve().parents[2] / "build" / "dev" / "depyf-decompile"
RUN = """
import itertools, json, sys
def load(path):
    namespace = {"seen": lambda error: None}
    exec(compile(open(path).read(), path, "exec"), namespace)
    return namespace["connect"]
def outcome(function, infos, nested, steps):
    steps, log = iter(steps), []
    def act(value):
        step = next(steps, None)
        log.append(repr((value, step)))
        if step:
            raise step()
        return value
    try:
        return repr(function(infos, nested, (1, 2), act)), log
    except BaseException as error:
        return repr(error), log
original, shown = map(load, sys.argv[1:])
results = set()
for infos in ("", "f", "fg"):
    for nested in (False, True):
        for steps in itertools.product((None, OSError, ValueError), repeat=4):
            expected = outcome(original, infos, nested, steps)
            assert outcome(shown, infos, nested, steps) == expected, (infos, nested, steps)
            results.add(repr(expected))
print(json.dumps(len(results)))
"""


def chain(error: BaseException | None) -> list[str]:
    names = []
    while error is not None:
        names.append(type(error).__name__)
        error = error.__context__
    return names


class Script:
    """Answers calls with the values of a script, or raises them."""

    def __init__(self, script: tuple[Any, ...]) -> None:
        self.script = iter(script)
        self.log: list[Any] = []

    def __call__(self, value: Any) -> Any:
        step = next(self.script, None)
        self.log.append((value, step, chain(sys.exc_info()[1])))
        if step is not None:
            raise step()
        return value

    def seen(self, error: BaseException) -> None:
        self.log.append(("seen", chain(error), chain(sys.exc_info()[1])))


def function_in(text: str) -> tuple[types.FunctionType, dict[str, Any]]:
    namespace: dict[str, Any] = {}
    exec(compile(text, "<text>", "exec", dont_inherit=True), namespace)
    return namespace["connect"], namespace


def runs() -> Iterator[tuple[Any, ...]]:
    steps = (None, OSError, ValueError, ZeroDivisionError)
    for script in itertools.product(steps, repeat=4):
        for nested in (False, True):
            for addresses in ((), (1,), (1, 2)):
                yield script, nested, addresses


def outcome(function: types.FunctionType, namespace: dict[str, Any], run: tuple[Any, ...], around: bool) -> Any:
    script, nested, addresses = run
    act = Script(script)
    namespace["seen"] = act.seen
    try:
        if around:
            try:
                raise LookupError
            except LookupError:
                return function(("f", "g"), nested, addresses, act), act.log
        return function(("f", "g"), nested, addresses, act), act.log
    except BaseException as error:
        return chain(error), act.log


def test_exceptions_keep_their_contexts() -> None:
    original, its_names = function_in(SOURCE)
    text = depyf.decompile(original)
    assert "shown as a state machine" in text
    shown, shown_names = function_in(text)
    results = set()
    for run in runs():
        for around in (False, True):
            expected = outcome(original, its_names, run, around)
            assert outcome(shown, shown_names, run, around) == expected, run
            results.add(repr(expected))
    assert len(results) > 30


def test_states_do_something_and_are_numbered_in_order() -> None:
    original, _ = function_in(SOURCE)
    arms = {}
    for node in ast.walk(ast.parse(depyf.decompile(original))):
        if isinstance(node, ast.If) and ast.unparse(node.test).startswith("__state == "):
            number = int(ast.unparse(node.test).removeprefix("__state == "))
            if not re.fullmatch(
                r"__stack_\d+ = (__exception\w*|None)", ast.unparse(node.body[0])
            ):  # an arm that only enters a handler
                arms[number] = [ast.unparse(stmt) for stmt in node.body]
    assert sorted(arms) == list(range(len(arms))) and len(arms) > 10
    assert not [arm for arm in arms.values() if len(arm) == 1 and re.fullmatch(r"__state = \d+", arm[0])]


def test_an_asynchronous_generator_compiles() -> None:
    original, _ = function_in(ASYNC)
    text = depyf.decompile(original)
    assert "shown as a state machine" in text
    shown, _ = function_in(text)
    assert shown.__code__.co_flags == original.__code__.co_flags


@pytest.mark.parametrize("version", [(3, 12), (3, 13)], ids=lambda it: "%d.%d" % it)
def test_a_comprehension_keeps_the_local_of_its_name(version: tuple[int, int], tmp_path: Path) -> None:
    python = interpreter(version)
    if not python:
        pytest.skip("no CPython %d.%d at hand" % version)
    source, pyc, shown = tmp_path / "source.py", tmp_path / "source.pyc", tmp_path / "shown.py"
    source.write_text(COMPREHENSION, encoding="utf-8")
    compiling = "import py_compile, sys; py_compile.compile(sys.argv[1], cfile=sys.argv[2], doraise=True)"
    subprocess.run([python, "-c", compiling, source, pyc], check=True)
    command = os.environ.get("DEPYF_DECOMPILE") or str(COMMAND)
    shown.write_bytes(subprocess.run([command, pyc], check=True, stdout=subprocess.PIPE).stdout)
    assert "shown as a state machine" in shown.read_text(encoding="utf-8")
    done = subprocess.run([python, "-c", RUN, source, shown], check=True, stdout=subprocess.PIPE)
    assert json.loads(done.stdout) > 20
