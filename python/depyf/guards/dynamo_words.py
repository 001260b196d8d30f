"""Parses the text in which Dynamo describes a guard: a condition, followed by the line of source that needs the
condition.

The text of a guard consists of code, a `#` with the line of source, and a `#` with `file:line in function (HINT: ...)`.
If a text contains no comment, the whole text is taken as the condition. A comment that does not name a place in the
source is kept as a note.
"""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass

# Matches code up to the end of the text, or up to a `#` that is not in a string.
_CODE = re.compile(r"""(?:[^#'"]+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*""")
_HINT = re.compile(r" \(HINT: (?P<hint>.*)\)$")
# Matches a place, such as `file.py:7 in f`, at the end of a comment. A path that directly follows a `#` may contain
# blanks, because no other text can precede the path there.
_PLACE = re.compile(
    r"(?:(?:^|# )(?P<path>[^#]+\.py)|(?:^|\s)(?P<file>[^\s()]+\.py|<[^<>]+>)):(?P<line>\d+) in (?P<function>\S+)$"
)


@dataclass(frozen=True)
class Words:
    """The parts of a guard's text."""

    condition: str
    line_text: str = ""
    """The text of the line of source that needs the guard."""
    file: str = ""
    """The path of the file that contains the line. Dynamo abbreviates the path, so only its last parts are reliable."""
    line: int = 0
    hint: str = ""
    note: str = ""
    """The comment in the text, if the comment does not name the line of source that the guard comes from; otherwise
    ""."""


# The parts of a guard's text are needed several times (for the form of the guard, for its line, and for the other cache
# entries of the function), so they are cached.
@functools.lru_cache(maxsize=4096)
def read(text: str) -> Words:
    """Splits the text of a guard into its parts."""
    hint = ""
    if match := _HINT.search(text):
        hint, text = match["hint"], text[: match.start()]
    condition, comment = _split(text)
    place = _PLACE.search(comment)
    # If PyTorch itself has set a bound on a size, the text of the guard names a line that used the size but is not the
    # cause of the bound. So the line in the text is ignored if PyTorch itself has set the bound.
    if place is None or "the guard itself is not due user code" in comment:
        return Words(condition, hint=hint, note=comment)
    line_text = comment[: place.start()].strip().removesuffix("#").strip()
    return Words(condition, line_text, place["path"] or place["file"], int(place["line"]), hint)


def _split(text: str) -> tuple[str, str]:
    """Returns the code in the text of a guard, and the comment behind the code; "" if the text has no comment."""
    if "#" not in text:
        return text.strip(), ""
    first = text.partition("\n")[0]
    code, sign, comment = first.partition("#")
    if sign and "'" not in code and '"' not in code:  # No string literal contains the `#`.
        return code.strip(), comment.strip()
    match = _CODE.match(first)
    if match is not None and first[match.end() : match.end() + 1] == "#":
        return first[: match.end()].strip(), first[match.end() + 1 :].strip()
    # If the code is not valid Python, because it contains, for example, a repr with an unclosed quote, the comment is
    # found by the two blanks in front of its `#`.
    code, _, comment = text.partition("  # ")
    return code.strip(), comment.strip()


def parse(condition: str) -> ast.expr | None:
    """Returns the syntax tree of a condition, which is an expression; None if the condition is not valid Python."""
    try:
        return ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def calls(condition: str) -> list[ast.expr]:
    """Returns the arguments of a condition that is a single call, with or without `not` in front; an empty list for any
    other condition."""
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
