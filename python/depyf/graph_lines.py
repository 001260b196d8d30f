"""Is the text of a graph Python?

Most of its lines have one shape, whatever the graph: `add: "f32[4]" = torch.ops.aten.add.Tensor(x, 1, alpha = 2);  x = None`,
over names, numbers, and lists and tuples of those. Such a line is a statement: to see whether the whole is Python, `pass`
stands in the place of each row of them, which Python's own compiler takes where it takes any statement, in a fraction of
the time. The head of the function has one shape too.
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
_RESULT = rf"(?:{_PATH}\({_ARGUMENTS}\)|{_PATH}(?:\[[0-9]\])?|{_ATOM} (?:[-+*/@%<>]|[<>=!]=) {_ATOM})"
_STATEMENT = rf'        {_NAME}(?:: "[^"\\\n]*")? = {_RESULT}(?:;  (?:{_NAME} = )+None)?$'
# In which nothing ends a string of several lines, or goes on in the next one.
_COMMENT = r"""#(?!.*(?:\"{3}|'{3}|\\))[^\n]*"""
_STATEMENTS = re.compile(rf"\n{_STATEMENT}(?:\n(?:{_STATEMENT}|        {_COMMENT}$|$))*", re.ASCII | re.MULTILINE)
_PARAMETER = rf'{_NAME}(?:: "[^"\\\n]*")?'
_HEAD = re.compile(
    rf"\n    def forward\((?:(?:{_PARAMETER}, )*{_PARAMETER}|(?:\n        {_PARAMETER},(?:  {_COMMENT})?)+\n    )\):$",
    re.ASCII | re.MULTILINE,
)
_ANNOTATION = re.compile(': "[^"]*"')
_PARAMETER_NAME = re.compile(rf"(?:[(]|, |^        )({_NAME})(?=[,)])", re.ASCII | re.MULTILINE)
_RETURN = re.compile(
    rf"\n        return \((?:\n            {_ATOM},(?:  {_COMMENT})?)+\n        \)$", re.ASCII | re.MULTILINE
)


def shortened(text: str) -> str:
    """A text that compiles where this one does."""
    return _RETURN.sub("\n        return", _HEAD.sub(_head, _STATEMENTS.sub("\n        pass", text)))


def _head(found: re.Match[str]) -> str:
    names = _PARAMETER_NAME.findall(_ANNOTATION.sub("", found[0]))
    return "\n    def forward(self):" if len(set(names)) == len(names) else found[0]
