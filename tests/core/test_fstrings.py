"""Tests that no field of an f-string is lost before 3.12, where a field may contain neither a backslash nor the
enclosing quotes."""

from __future__ import annotations

import re

import pytest

from decompiled import decompiled
from interpreters import VERSIONS, compiled, interpreter

LIMITED = [version for version in VERSIONS if version < (3, 12)]
# Fields with line breaks and quotes, and texts that follow a field; all combinations are tested.
FIELDS = ["f('''a\n{x}''')", "f('''it's\n\"{x}\"''')", "f(f'''{x}\n''')", "f(f\"{x['a']}\")", "f(f'''it's {x} \"''')"]
TAILS = ["", "{x}\nand more", "{x!r:>10}" + " many words" * 20, "\n" * 3 + "'\"{x}"]


@pytest.mark.parametrize("version", LIMITED, ids=lambda version: "%d.%d" % version)
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("field", FIELDS)
def test_each_field_is_evaluated(version, field, tail, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    source = f'def g(f, x):\n    return f"""{{{field}}}{tail}"""\n'
    pyc = compiled(python, source, tmp_path)
    text = decompiled(pyc, "--check", python)
    assert re.search(r"\bf\(", text), text
    assert "# depyf" not in text, text
