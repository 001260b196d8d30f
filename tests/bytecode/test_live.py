"""Tests of reading code objects of the running interpreter attribute by attribute."""

from __future__ import annotations

import dis
import enum
import importlib
import sys
import types
from collections.abc import Iterator

import pytest

from depyf import _core

MODULES = ["ast", "argparse", "asyncio.base_events", "asyncio.tasks", "contextlib", "dataclasses", "inspect", "typing"]


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def stdlib_codes() -> Iterator[types.CodeType]:
    for name in MODULES:
        loader = importlib.import_module(name).__spec__.loader
        yield from codes(loader.get_code(name))


def test_positions() -> None:
    count = 0
    for code in stdlib_codes():
        positions, _ = _core.tables(code)
        if sys.version_info >= (3, 11):
            expected = [(a, b, c, d) for a, b, c, d in code.co_positions()]
            found = [tuple(None if x == -1 else x for x in one) for one in positions]
        else:
            expected = [line for start, end, line in code.co_lines() for _ in range(start // 2, end // 2)]
            found = [None if one[0] == -1 else one[0] for one in positions]
        assert found == expected, code
        count += 1
    assert count > 1000


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there is no exception table")
def test_exception_tables() -> None:
    count = 0
    for code in stdlib_codes():
        _, exceptions = _core.tables(code)
        assert exceptions == [(e.start, e.end, e.target, e.depth, e.lasti) for e in dis._parse_exception_table(code)]
        count += len(exceptions)
    assert count > 500


class Hostile:
    def __repr__(self) -> str:
        raise AssertionError("a constant was shown")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("a constant was compared")

    def __hash__(self) -> int:
        raise AssertionError("a constant was hashed")

    def __iter__(self) -> Iterator[object]:
        raise AssertionError("a constant was walked")


class Int(int, Hostile):
    __hash__ = Hostile.__hash__


class Colour(enum.Enum):
    red = 1


def function() -> object:
    return 1000


def test_constants_are_not_touched() -> None:
    constants = (
        None,
        Hostile(),
        Int(3),
        (Hostile(), (Int(3),)),
        Colour.red,
        {},
        [],
        globals(),
        10**10000,
        "\ud800",
        1j,
    )
    code = function.__code__.replace(co_consts=constants)
    assert _core.decode(code)


def test_deep_constants() -> None:
    constant: object = ()
    for _ in range(2_000):
        constant = (constant,)
    code = function.__code__.replace(co_consts=(None, constant))
    assert _core.decode(code)


@pytest.mark.parametrize("value", [None, 3, function, "x = 1", object()])
def test_what_is_no_code(value: object) -> None:
    with pytest.raises(TypeError):
        _core.decode(value)


def test_malformed_bytecode_is_an_error_with_its_offset() -> None:
    code = function.__code__
    bytecode = code.co_code[:-2] + bytes([dis.opmap["EXTENDED_ARG"], 0])
    with pytest.raises(ValueError, match=f"EXTENDED_ARG without an instruction at offset {len(bytecode) - 2}"):
        _core.decode(code.replace(co_code=bytecode))
