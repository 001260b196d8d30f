"""The words in which Dynamo writes a guard: a condition, and behind it the line of source that needs it.

They look so: `code  # line of source  # file:line in function (HINT: ...)`. A text of another form is a condition as
a whole.
"""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass

# Code up to the end or to a `#` that is in no string.
_CODE = re.compile(r"""(?:[^#'"]+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*""")
_HINT = re.compile(r" \(HINT: (?P<hint>.*)\)$")
_PLACE = re.compile(r"(?:^|\s)(?P<file>[^\s()]+\.py|<[^<>]+>):(?P<line>\d+) in (?P<function>\S+)$")


@dataclass(frozen=True)
class Words:
    """A guard's text, taken apart."""

    condition: str
    line_text: str = ""
    """The line of source."""
    file: str = ""
    """Its file as Dynamo shortens it: only the last parts of the path are sure."""
    line: int = 0
    hint: str = ""
    note: str = ""
    """A comment that tells of no line of source."""


@functools.lru_cache(maxsize=4096)  # asked for by a guard's form, again by its line, and by each entry of a function
def read(text: str) -> Words:
    """Takes a guard's text apart."""
    hint = ""
    if match := _HINT.search(text):
        hint, text = match["hint"], text[: match.start()]
    condition, comment = _split(text)
    place = _PLACE.search(comment)
    # For a bound that PyTorch set itself, the text names the line that used the size first, which is not the cause.
    if place is None or "the guard itself is not due user code" in comment:
        return Words(condition, hint=hint, note=comment)
    line_text = comment[: place.start()].strip().removesuffix("#").strip()
    return Words(condition, line_text, place["file"], int(place["line"]), hint)


def _split(text: str) -> tuple[str, str]:
    """Returns the code and the comment after it."""
    if "#" not in text:
        return text.strip(), ""
    first = text.partition("\n")[0]
    code, sign, comment = first.partition("#")
    if sign and "'" not in code and '"' not in code:  # no string that the sign could be part of
        return code.strip(), comment.strip()
    match = _CODE.match(first)
    if match is not None and first[match.end() : match.end() + 1] == "#":
        return first[: match.end()].strip(), first[match.end() + 1 :].strip()
    # Not Python: a repr with an open quote, say.
    code, _, comment = text.partition("  # ")
    return code.strip(), comment.strip()


def parse(condition: str) -> ast.expr | None:
    """Returns the condition as an expression; None if it is not Python."""
    try:
        return ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def calls(condition: str) -> list[ast.expr]:
    """Returns the arguments of a condition that is one call, with `not` before it or not; empty if it is none."""
    tree = parse(condition)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        tree = tree.operand
    return list(tree.args) if isinstance(tree, ast.Call) else []


def compared(condition: str) -> ast.expr | None:
    """Returns what a condition `x == value` compares with; None if it is no such condition."""
    tree = parse(condition)
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
        return tree.comparators[0]
    return None
