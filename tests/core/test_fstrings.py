"""f-strings before 3.12, in whose fields neither a backslash nor the enclosing quotes may stand: no field is lost."""

from __future__ import annotations

import re

import pytest

from decompiled import decompiled
from interpreters import VERSIONS, compiled, interpreter

LIMITED = [version for version in VERSIONS if version < (3, 12)]
# Lines and quotes of fields in several combinations: what stands in a field, and what follows the field.
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
