"""depyf.prove: what is the same, what is not, and what it says then."""

from __future__ import annotations

import textwrap
import types

import pytest

import depyf


def function(body: str) -> types.CodeType:
    """The code of `def f(a, b): body`."""
    source = "def f(a, b):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    return next(it for it in compile(source, "f.py", "exec").co_consts if isinstance(it, types.CodeType))


SAME = {
    "a temporary": ("return a + b", "x = a\ny = b\nreturn x + y"),
    "a test turned around": ("if a: return 1\nreturn 2", "if not a: return 2\nreturn 1"),
    "a loop": ("while not a(): b()", "while True:\n    if a(): break\n    b()"),
    "another name for a local": ("for i in a: b(i)", "for j in a: b(j)"),
    "a list that nobody sees": ("x = [a, b]\nreturn x[1]", "return b"),
    "arguments in a tuple": ("return g(*(a, b), **{'k': a})", "return g(a, b, k=a)"),
    "unpacking": ("[x, *y, z] = (a, b, a, b)\nreturn y", "return [b, a]"),
    "a state machine": (
        "s = 0\nfor i in a: s = s + i\nreturn s",
        "n = 0\nwhile True:\n    if n == 0: s = 0; i = a; n = 1\n    else:\n        for i in i: s = s + i\n        return s",
    ),
    "handlers": (
        "try:\n    x = a()\nexcept E as e:\n    return b(e)\nfinally:\n    c()\nreturn x",
        "try:\n    try:\n        y = a()\n    except E as e:\n        return b(e)\nfinally:\n    c()\nreturn y",
    ),
    "with": ("with a as x:\n    return b(x)", "with a as y:\n    z = b(y)\n    return z"),
    "a dead store": ("x = 1\nreturn a", "return a"),
    "cells": ("x = a\ndef g(): return x\nreturn g", "x = b\nx = a\ndef g(): return x\nreturn g"),
    "classes": ("class A(a):\n    x = b\nreturn A", "class A(a):\n    x = b\ny = A\nreturn y"),
}
DIFFERENT = {
    "a value tested once more": ("if a: b()", "if a: pass\nif a: b()"),
    "a value tested again under another name": ("return a and b and 1", "x = a and b\nreturn x and 1"),
    "order of operands": ("return a + b", "return b + a"),
    "outcome of a test": ("if a: return 1\nreturn 2", "if not a: return 1\nreturn 2"),
    "order of effects": ("a()\nb()", "b()\na()"),
    "an effect dropped": ("a()\na()", "a()"),
    "one list or two": ("x = []\nreturn x, x", "return [], []"),
    "a list that somebody has seen": ("x = [a, b]\ng(x)\nreturn x[1]", "x = [a, b]\ng(x)\nreturn b"),
    "-0.0": ("return 0.0", "return -0.0"),
    "True": ("return 1", "return True"),
    "an unbound local": ("if a: x = 1\nreturn x", "x = 1\nif a: pass\nreturn x"),
    "no handler": ("try:\n    a()\nexcept E:\n    pass", "a()"),
    "a narrower handler": ("try:\n    a()\n    b()\nexcept E:\n    pass", "try:\n    a()\nexcept E:\n    b()"),
    "a local in a handler": (
        "x = 1\ntry:\n    x = 2\n    a()\nexcept E:\n    return x",
        "x = 1\ntry:\n    a()\n    x = 2\nexcept E:\n    return x",
    ),
    "inside a function": ("def g(): return a\nreturn g", "def g(): return b\nreturn g"),
    "when a cell changes": ("x = 1\ng(lambda: x)\nx = 2", "x = 1\ng(lambda: x)"),
    "when a default is taken": ("def g(x=a): return x\nreturn g", "def g(x=b): return x\nreturn g"),
    "awaiting": ("yield a", "return a\nyield"),
    "in a loop": ("for i in a: b(i)", "for i in a:\n    b(i)\n    break"),
    "what locals() sees": ("x = a\nreturn locals()", "return locals()"),
}


@pytest.mark.parametrize("name", SAME)
def test_same(name: str) -> None:
    one, two = map(function, SAME[name])
    proof = depyf.prove(one, two)
    assert proof, proof
    assert proof.reason == ""
    assert proof.where is None
    assert depyf.prove(two, one)


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(name: str) -> None:
    one, two = map(function, DIFFERENT[name])
    proof = depyf.prove(one, two)
    assert not proof
    assert proof.reason
    assert not depyf.prove(two, one)
    assert depyf.prove(one, one)


def test_where() -> None:
    proof = depyf.prove(function("a.x\nreturn b.y"), function("a.x\n\nreturn b.z"))
    where = proof.where
    assert where is not None
    assert (where.function, where.line_one, where.line_two) == ("f", 3, 4)
    assert (where.one, where.two) == ("load attr y: argument b", "load attr z: argument b")
    assert "load attr y" in repr(proof)


def test_constants_that_are_any_object() -> None:
    def with_constant(value: object) -> types.CodeType:
        code = function("return 17")
        return code.replace(co_consts=tuple(value if it == 17 else it for it in code.co_consts))

    one: list[int] = []
    two: list[int] = []
    # Where 17 is no constant of the code (3.14), nothing differs.
    if 17 in function("return 17").co_consts:
        assert depyf.prove(with_constant(one), with_constant(one))
        assert not depyf.prove(with_constant(one), with_constant(two))


def test_arguments_are_part_of_it() -> None:
    def first(a, b): ...
    def second(a, c): ...
    def third(a, b=1, *, c): ...

    assert not depyf.prove(first.__code__, second.__code__)
    assert not depyf.prove(first.__code__, third.__code__)


def test_what_is_no_code() -> None:
    with pytest.raises(TypeError):
        depyf.prove(1, function("pass"))  # type: ignore[arg-type]
