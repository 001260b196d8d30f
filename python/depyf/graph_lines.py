"""Is the text of a graph Python?

Most of its lines have one shape, whatever the graph: `add: "f32[4]" = torch.ops.aten.add.Tensor(x, 1, alpha = 2);  x = None`,
over names, numbers, and lists and tuples of those. Such a line is a statement: to see whether the whole is Python, `pass`
stands in its place, which Python's own compiler takes where it takes any statement, in a fraction of the time.
"""

from __future__ import annotations

import keyword
import re

_WORDS = "|".join(word for word in keyword.kwlist if word not in ("None", "True", "False"))
_NAME = rf"(?!(?:{_WORDS}|None|True|False)\b)[A-Za-z_]\w*"
_PATH = rf"(?!(?:{_WORDS})\b)[A-Za-z_]\w*(?:\.{_NAME})*"
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?(?![\w.])"
_ATOM = f"(?:{_PATH}|{_NUMBER})"
_VALUE = rf"(?:{_ATOM}|\[(?:{_ATOM}(?:, {_ATOM})*)?\]|\({_ATOM}(?:,|(?:, {_ATOM})+)\)|device\(type='\w+'(?:, index=[0-9])?\))"
_ARGUMENTS = f"(?:{_VALUE}(?:, {_VALUE})*(?:, {_NAME} = {_VALUE})*)?"
_STATEMENT = re.compile(
    rf'^        {_NAME}: "[^"\\\n]*" = {_PATH}\({_ARGUMENTS}\)(?:;  (?:{_NAME} = )+None)?$', re.ASCII | re.MULTILINE
)


def shortened(text: str) -> str:
    """A text that compiles where this one does, and has errors in the same lines."""
    return _STATEMENT.sub("        pass", text)
