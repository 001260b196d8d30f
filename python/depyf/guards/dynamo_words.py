"""Parses the text of a guard as Dynamo writes it: a condition, followed by the line of source that needs it.

The text consists of code, a `#` with the line of source, and a `#` with `file:line in function (HINT: ...)`. A text of
another form is taken as a condition.
"""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass

# Code up to the end, or up to a `#` that is not in a string.
_CODE = re.compile(r"""(?:[^#'"]+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*""")
_HINT = re.compile(r" \(HINT: (?P<hint>.*)\)$")
# Directly behind a `#`, the names of folders may contain blanks, as no other text can precede the path.
_PLACE = re.compile(
    r"(?:(?:^|# )(?P<path>[^#]+\.py)|(?:^|\s)(?P<file>[^\s()]+\.py|<[^<>]+>)):(?P<line>\d+) in (?P<function>\S+)$"
)


@dataclass(frozen=True)
class Words:
    """The parts of a guard's text."""

    condition: str
    line_text: str = ""
    """The text of the line of source."""
    file: str = ""
    """The file of the line as Dynamo abbreviates it: only the last parts of its path are reliable."""
    line: int = 0
    hint: str = ""
    note: str = ""
    """A comment that does not name a line of source."""


# The parts of a text are needed several times: for the form of the guard, for its line, and for the other entries of
# the function.
@functools.lru_cache(maxsize=4096)
def read(text: str) -> Words:
    """Splits the text of a guard into its parts."""
    hint = ""
    if match := _HINT.search(text):
        hint, text = match["hint"], text[: match.start()]
    condition, comment = _split(text)
    place = _PLACE.search(comment)
    # For a bound that PyTorch set itself, the text first names the line that used the size, which is not the cause.
    if place is None or "the guard itself is not due user code" in comment:
        return Words(condition, hint=hint, note=comment)
    line_text = comment[: place.start()].strip().removesuffix("#").strip()
    return Words(condition, line_text, place["path"] or place["file"], int(place["line"]), hint)


def _split(text: str) -> tuple[str, str]:
    """Returns the code in the text of a guard, and the comment behind the code."""
    if "#" not in text:
        return text.strip(), ""
    first = text.partition("\n")[0]
    code, sign, comment = first.partition("#")
    if sign and "'" not in code and '"' not in code:  # There is no string that could contain the sign.
        return code.strip(), comment.strip()
    match = _CODE.match(first)
    if match is not None and first[match.end() : match.end() + 1] == "#":
        return first[: match.end()].strip(), first[match.end() + 1 :].strip()
    # The text is not Python, but for example a repr with an unclosed quote.
    code, _, comment = text.partition("  # ")
    return code.strip(), comment.strip()


def parse(condition: str) -> ast.expr | None:
    """Returns the condition as an expression; None if it is not Python."""
    try:
        return ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def calls(condition: str) -> list[ast.expr]:
    """Returns the arguments of a condition that is a single call, with or without `not`; empty for any other
    condition."""
    tree = parse(condition)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        tree = tree.operand
    return list(tree.args) if isinstance(tree, ast.Call) else []


def compared(condition: str) -> ast.expr | None:
    """Returns the right side of a condition `x == value`; None for any other condition."""
    tree = parse(condition)
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
        return tree.comparators[0]
    return None
