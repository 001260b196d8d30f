"""The source of a single code object can be compiled by itself: it binds the free variables and imports from __future__."""

from __future__ import annotations

import importlib.util
import marshal
import subprocess
import types
from pathlib import Path

import pytest

import depyf

COMMAND = Path(__file__).resolve().parents[2] / "build" / "dev" / "depyf-decompile"
FUTURE_ANNOTATIONS = 0x1000000


def _counter():
    count = 0

    def increase(step: int = 1) -> int:
        nonlocal count
        count += step
        return count

    return increase


class _Shape:
    def area(self):
        return super().__init__(), __class__

    def only_super(self):
        return super().__init__()

    def without_super(self):
        # Dynamo removes `super()`, and leaves the free variable and the name in the code. The code of this method also
        # has the free variable `__class__` and the name `super`, but does not call `super()`, because the compiler
        # removes the branch.
        if False:
            super().__init__()
        return self.super


def _annotated(value: int) -> types.CodeType:
    def inner(of: list[int]) -> value.missing:  # noqa: F821
        return of, value

    return inner


def _source_of_command(code: types.CodeType, folder: Path) -> str:
    file = folder / "function.pyc"
    file.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    return subprocess.run([COMMAND, "-q", file], capture_output=True, text=True, check=True).stdout


def _function_in(code: types.CodeType) -> types.CodeType:
    inner = next(const for const in code.co_consts if isinstance(const, types.CodeType))
    return _function_in(inner) if inner.co_name == "__outer" else inner


CODES = {
    "counter": _counter().__code__,
    "super and class": _Shape.area.__code__,
    "super": _Shape.only_super.__code__,
    "class without super": _Shape.without_super.__code__,
    "annotations of a nested function": _annotated.__code__,
    "no free variable": _source_of_command.__code__,
}


@pytest.mark.parametrize("of", ["decompile", "command"])
@pytest.mark.parametrize("name", CODES)
def test_source_compiles_to_a_function_with_the_same_variables_and_flags(name, of, tmp_path):
    code = CODES[name]
    source = depyf.decompile(code) if of == "decompile" else _source_of_command(code, tmp_path)
    function = _function_in(compile(source, "<source>", "exec", dont_inherit=True))
    assert set(function.co_freevars) == set(code.co_freevars)
    assert function.co_flags & FUTURE_ANNOTATIONS == code.co_flags & FUTURE_ANNOTATIONS
    assert depyf.prove(code, function)


def test_annotations_are_text_once():
    """The code has the annotation `list[int]` as a string constant, which must not be quoted again under the __future__
    import."""
    namespace: dict[str, object] = {}
    exec(depyf.decompile(_annotated.__code__), namespace)
    inner = namespace["_annotated"](1)
    assert inner.__annotations__ == _annotated(1).__annotations__ == {"of": "list[int]", "return": "value.missing"}


def test_outer_returns_the_function():
    namespace: dict[str, object] = {}
    exec(depyf.decompile(_counter().__code__), namespace)
    function = namespace["__outer"]()
    assert (function.__name__, function.__code__.co_freevars) == ("increase", ("count",))


def test_a_live_function_keeps_its_annotations_without_an_import():
    """A function object has its annotations, which are texts here, so they are shown as texts."""
    source = depyf.decompile(_counter())
    assert "__future__" not in source
    assert "def increase(step: 'int' = 1) -> 'int':" in source
