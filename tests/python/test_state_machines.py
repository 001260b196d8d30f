"""State machines do what the code does, down to the contexts of the exceptions that they raise."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Iterator
from typing import Any

import depyf

SOURCE = """
def connect(infos, nested, addresses, act):
    family = None
    for family in act(infos):
        try:
            if nested:
                for address in addresses:
                    try:
                        break
                    except OSError:
                        seen(None)
                else:
                    continue
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


def test_an_asynchronous_generator_compiles() -> None:
    original, _ = function_in(ASYNC)
    text = depyf.decompile(original)
    assert "shown as a state machine" in text
    shown, _ = function_in(text)
    assert shown.__code__.co_flags == original.__code__.co_flags
