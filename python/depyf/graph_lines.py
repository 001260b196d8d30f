"""Is the text of a graph Python?

Most of its lines have one shape, whatever the graph: `add: "f32[4]" = torch.ops.aten.add.Tensor(x, 1, alpha = 2);  x = None`,
over names, numbers, and lists and tuples of those. Such a line is a statement: to see whether the whole is Python, `pass`
stands in the place of each row of them, which Python's own compiler takes where it takes any statement, in a fraction of
the time. The head of the function has one shape too. Words that can be no names are looked for apart: they would make the
patterns many times as large.
"""

from __future__ import annotations

import keyword
import re

_CONSTANTS = {"None", "True", "False"}
_WORDS = {*keyword.kwlist} - _CONSTANTS
# Words; none of comments and strings.
_WORDS_READ = re.compile(r"""#[^\n]*|"[^"\n]*"|'\w*'|([A-Za-z_]\w*)""")
_NAMED = [one for constant in _CONSTANTS for one in (f"{constant} = ", f"{constant}: ", f".{constant}")]
_NAME = r"[A-Za-z_]\w*"
_PATH = rf"{_NAME}(?:\.{_NAME})*"
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
_RETURN = re.compile(
    rf"\n        return \((?:\n            {_ATOM},(?:  {_COMMENT})?)+\n        \)$", re.ASCII | re.MULTILINE
)


def shortened(text: str) -> str:
    """A text that compiles where this one does."""
    return _RETURN.sub(_return, _HEAD.sub(_head, _STATEMENTS.sub(_statements, text)))


def _statements(found: re.Match[str]) -> str:
    return "\n        pass" if _names(found[0]) else found[0]


def _head(found: re.Match[str]) -> str:
    parameters = found[0].partition("(")[2]
    names = _names(parameters) or ["self", "self"]
    return found[0] if len(set(names)) < len(names) or _CONSTANTS.intersection(names) else "\n    def forward(self):"


def _return(found: re.Match[str]) -> str:
    return "\n        return" if _names(found[0].partition("(")[2]) else found[0]


def _names(text: str) -> list[str]:
    """All words of a text; none if one of them can be no name there."""
    words = [word for word in _WORDS_READ.findall(text) if word]
    return [] if not _WORDS.isdisjoint(words) or any(one in text for one in _NAMED) else words
