"""Tests of depyf.decompilation, which returns the source, the code to which it compiles, and the proof in one
object."""

from __future__ import annotations

import types

import pytest

import depyf
from depyf import decompilation, names
from depyf.decompilation import PROVED, without_encoding

SOURCE = """
import os

class A:
    x: int = 1
    def f(self, y=[1]):
        return super().f(y) + self.x
    class B(object):
        z = [[i for i in x] for x in range(3)]

def g(a, *args, k=2, **kwargs):
    class C:
        def h(self):
            nonlocal a
            a = 2
            return a, __class__
        b = a
    for i in range(3):
        try:
            yield {i for i in a[i]}, {i: k for i in args}, list(i for i in kwargs)
        except ValueError as e:
            print(e)
    return C

async def h(a):
    return [i async for i in a], lambda: a
"""


def codes():
    return list(names.nested_codes(compile(SOURCE, "m", "exec", dont_inherit=True)))


@pytest.mark.parametrize("code", codes(), ids=lambda code: code.co_name)
def test_every_kind_of_code_is_proved(code):
    result = decompilation.decompile(code)
    assert result.proved and result.proof and not result.reason
    assert result.source == depyf.decompile(code)
    assert result.source.splitlines()[0] == PROVED
    assert result.code is not code and depyf.prove(code, result.code)


def test_what_is_not_proved_says_where(monkeypatch):
    def f(x):
        return x + 1

    real = decompilation.compile_back
    monkeypatch.setattr(
        decompilation, "compile_back", lambda source, *a, **k: real(source.replace("x + 1", "x - 1"), *a, **k)
    )
    result = decompilation.decompile(f.__code__)
    assert not result.proved and not result.proof
    head = result.source.splitlines()[0]
    assert head.startswith("# not proved: ") and "the effects differ" in head and "line 2" in head
    # Source that is not proved is never compiled to run in place of the original.
    assert result.compile_text(result.source, "file.py") is None


@pytest.mark.parametrize("error", [RecursionError("deep"), MemoryError(), SyntaxError("no"), ValueError("a\nb")])
def test_nothing_is_raised_where_the_source_does_not_compile(error, monkeypatch):
    def broken(*args, **kwargs):
        raise error

    monkeypatch.setattr(decompilation, "compile_back", broken)
    result = decompilation.decompile((lambda: 0).__code__)
    assert result.code is None and result.proof is None and not result.proved
    head = result.source.splitlines()[0]
    assert head.startswith("# not proved: the source does not compile back") and type(error).__name__ in head


def test_the_text_of_a_file_becomes_code_with_the_lines_of_the_file():
    def f(x):
        return x / 0

    result = decompilation.decompile(f.__code__).named("other")
    assert "def other(x)" in result.source
    text = "# one\n# two\n\n" + result.source
    code = result.compile_text(text, "/dump/file.py")
    assert code.co_filename == "/dump/file.py" and code.co_name == "f"
    (line,) = [n for n, at in enumerate(text.splitlines(), 1) if "x / 0" in at]
    with pytest.raises(ZeroDivisionError) as raised:
        types.FunctionType(code, {})(1)
    assert raised.traceback[-1].lineno + 1 == line
    assert result.compile_text(text.replace("x / 0", "x / 1"), "file.py") is None


def test_lines_lead_to_offsets():
    def f(x):
        y = x()
        return y.z

    result = decompilation.decompile(f.__code__)
    lines = result.source.splitlines()
    assert {lines[line - 1].strip() for line, _ in result.lines} >= {"y = x()", "return y.z"}


def test_unknown_styles_are_errors():
    with pytest.raises(ValueError, match="'readable' and 'exact'"):
        depyf.decompile(lambda: 0, style="pretty")


def test_comments_name_no_encoding() -> None:
    assert without_encoding("# encoding: a") == "# encoding : a"
    assert without_encoding("# coding=a") == "# coding =a"
