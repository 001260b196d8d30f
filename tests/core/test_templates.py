"""Tests of template strings (3.14), whose fields contain the text and the value of an expression. If the compiler
changed the value, or if text and value do not match, the output has a mark."""

from __future__ import annotations

import pytest

from decompiled import decompiled, unproved
from interpreters import VERSIONS, compiled, interpreter

WITH_TEMPLATES = [version for version in VERSIONS if version >= (3, 14)]

PLAIN = """
class C:
    def f(self, a, b):
        return t"{a + b}", t"{a[ 'key' ]!r:>{b}}", t"{self.__x}", t"{(lambda: a)}", t"{[c for c in a]=}", t"{'it\\'s ' + a}"
"""


@pytest.fixture(params=WITH_TEMPLATES, ids=lambda version: "%d.%d" % version)
def python(request):
    path = interpreter(request.param)
    if path is None:
        pytest.skip("no such interpreter here")
    return path


def test_texts_as_they_were_written_have_no_mark(python, tmp_path):
    pyc = compiled(python, PLAIN, tmp_path)
    assert "# depyf" not in decompiled(pyc, "--check", python)
    assert unproved(pyc) == []


@pytest.mark.parametrize("field", ["1 / 0.3", "f(60 * 60, a)", "not (a in b)", "0x10", " 0\n & 1\n | 2\n"])
def test_values_that_the_compiler_changed_are_shown_by_their_text(python, tmp_path, field):
    pyc = compiled(python, "def g(a, b):\n    return t'{%s}'\n" % field, tmp_path)
    assert "# depyf" not in decompiled(pyc, "--check", python)
    text = decompiled(pyc)
    assert "{%s}" % field in text
    assert "# depyf: not proved: the text of a field may differ from its expression: " in text
    assert "not equal" not in text
    assert len(unproved(pyc)) == 1


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("a + b", "c + b"),
        ("a + b", "a - b"),
        ("a + b", "a):f("),
        ("a * (b + 1)", "a *  b + 1 "),
        ("'a' + b", "aaa + b"),
        ("not a", "nota "),
    ],
)
def test_text_of_another_expression_is_never_silent(python, tmp_path, field, other):
    pyc = compiled(python, 'def g(a, b):\n    return t"{%s}"\n' % field, tmp_path)
    changed = pyc.read_bytes().replace(field.encode(), other.encode())
    assert changed != pyc.read_bytes()
    pyc.write_bytes(changed)
    assert "# depyf: not " in decompiled(pyc)
    assert len(unproved(pyc)) == 1
