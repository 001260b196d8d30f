"""Tests of names that Python's grammar does not allow: the text that replaces them means the same, and a comment states
the difference."""

from __future__ import annotations

from types import CodeType

import depyf

SOURCE = """
zglobal = 1


def swapped(_x, y):
    zlocal = y
    return _x, zlocal


def count(x):
    global zglobal
    zglobal = x.zattr
    x.zattr = 3
    return zglobal


class Holder:
    zclass = 2
    zattr = 5
    copied = zclass
"""
ODD = {"zlocal": "@x", "zglobal": "a b", "zattr": "class", "zclass": "1st"}


def renamed(code: CodeType) -> CodeType:
    def names(old: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(ODD.get(name, name) for name in old)

    constants = tuple(renamed(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=constants, co_names=names(code.co_names), co_varnames=names(code.co_varnames))


def test_odd_names_keep_apart_and_keep_their_objects() -> None:
    source = depyf.decompile(renamed(compile(SOURCE, "odd.py", "exec", dont_inherit=True)))
    assert "depyf: not equal: names that are no identifiers" in source
    namespace: dict = {}
    exec(compile(source, "shown.py", "exec"), namespace)
    assert namespace["swapped"](1, 2) == (1, 2)
    assert namespace["a b"] == 1
    holder = namespace["Holder"]
    assert (getattr(holder, "1st"), holder.copied) == (2, 2)
    assert namespace["count"](holder) == 5
    assert namespace["a b"] == 5
    assert getattr(holder, "class") == 3


def test_identifiers_are_not_marked() -> None:
    source = depyf.decompile(compile(SOURCE, "plain.py", "exec", dont_inherit=True))
    assert "not equal" not in source
    assert "globals()" not in source
