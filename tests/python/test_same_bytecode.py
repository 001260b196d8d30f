"""Tests of `_core.same_code`, which is true for code that differs only in its own name and in positions."""

from __future__ import annotations

import types

import pytest

import depyf
from depyf import _core, proof

BASE = "def f(a, b=1):\n    c = a + 1.0\n    return [c, b, (0.0, ('x',))]\n"


def code_of(text: str) -> types.CodeType:
    namespace: dict[str, types.FunctionType] = {}
    exec(compile(text, "<test>", "exec"), namespace)
    return next(value for name, value in namespace.items() if name != "__builtins__").__code__


@pytest.mark.parametrize(
    "text",
    [BASE, f"# a comment\n\n{BASE}", BASE.replace("def f(", "def g("), BASE.replace("a, b=1", "a: int,\n    b=1")],
)
def test_only_names_and_positions_differ(text):
    assert _core.same_code(code_of(BASE), code_of(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a + 1.0", "a - 1.0"),
        ("a + 1.0", "a + 1"),
        ("a + 1.0", "a + True"),
        ("(0.0,", "(-0.0,"),
        ("(0.0,", "(0,"),
        ("'x'", "b'x'"),
        ("('x',)", "'x'"),
        ("'x'", "'y'"),
        ("c = a", "d = a"),
        ("a, b=1", "b, a=1"),
        ("a, b=1", "a, *, b=1"),
        ("a, b=1", "a, /, b=1"),
        ("a, b=1", "a, b=1, *c"),
        ("return ", "yield "),
    ],
)
def test_anything_else_differs(old, new):
    text = BASE.replace(old, new).replace("return [c,", "return [d,") if new == "d = a" else BASE.replace(old, new)
    assert text != BASE
    assert not _core.same_code(code_of(BASE), code_of(text))


def test_handlers_and_free_names_differ():
    handled = "def f(a):\n    try:\n        a()\n    except ValueError:\n        pass\n"
    assert _core.same_code(code_of(handled), code_of(f"\n{handled}"))
    assert not _core.same_code(code_of(handled), code_of(handled.replace("ValueError", "TypeError")))
    closed = "def f():\n    def g():\n        return a, b\n    a = b = 1\n    return g\n"
    code, other = (
        next(const for const in code_of(text).co_consts if isinstance(const, types.CodeType))
        for text in (closed, closed.replace("return a, b", "return b, a"))
    )
    assert _core.same_code(code, code) and not _core.same_code(code, other)


def test_code_that_holds_code_is_left_to_the_prover():
    nested = code_of("def f(a):\n    return lambda: a\n")
    assert not _core.same_code(nested, nested)
    assert depyf.prove(nested, nested).nested == [(1, 1)]


def test_the_same_code_needs_no_walk(monkeypatch):
    code, moved = code_of(BASE), code_of(f"\n{BASE}")
    proof.prove(code, code)  # fills the cache for this code object
    monkeypatch.setattr(proof, "_core", types.SimpleNamespace(same_code=_core.same_code))  # without `prove`
    same = depyf.prove(code, moved)
    assert same and same.same_effects and not same.kept and not same.nested and not same.reason


def test_constants_that_cannot_be_compared_are_not_the_same():
    code = code_of(BASE)
    for constant in (object(), frozenset({1}), (1, (frozenset({1}),))):
        odd = code.replace(co_consts=(*code.co_consts, constant))
        assert not _core.same_code(odd, odd)
