"""Shortens Dynamo's unique names, and makes names safe for one line of text or for a file name.

Dynamo ends the names of its functions with a uuid (`__compiled_fn_1_<uuid>`), so that they differ in every run. Within
a process, the number in `__compiled_fn_1` distinguishes Dynamo's functions without the uuid. Text for readers contains
`__compiled_fn_1`, and code that runs contains the full name with the uuid.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator
from typing import Any

_UUID = re.compile(r"_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}\b")
# Matches characters other than a tab that end a line, control a terminal or change the direction of text, and lone
# surrogates.
_NOT_IN_A_LINE = re.compile(
    "[\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]"
)
_MAX_BYTES = 150  # the largest number of bytes for a function's name in a file name, which may have 255 bytes
_COMPILED_FN = re.compile(r"__compiled_fn_(\d+)(?:_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12})?")


def shorten(text: str) -> str:
    """Returns `text` without the uuids that Dynamo puts at the end of names."""
    return _UUID.sub("", text)


def one_line(text: str) -> str:
    """Returns `text` as one line that can be shown anywhere, also in a comment of Python.

    Names, paths and messages can contain any character. Characters that end a line, control a terminal or change the
    direction of text are escaped as in a literal of Python.
    """
    return text if text.isprintable() else _NOT_IN_A_LINE.sub(_escaped, text)


def one_line_each(lines: Iterable[str]) -> str:
    """Returns the lines joined by line breaks, with each line escaped as by `one_line`."""
    lines = list(lines)
    text = "\n".join(lines)
    if text.count("\n") == len(lines) - 1 and text.replace("\n", "").isprintable():
        return text
    return "\n".join(map(one_line, lines))


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def compiled_fn_number(name: str) -> int | None:
    """Returns the N of `__compiled_fn_N` or `__compiled_fn_N_<uuid>`; None for any other name."""
    match = _COMPILED_FN.fullmatch(name)
    return int(match[1]) if match else None


def safe_file_part(name: str) -> str:
    """Returns a function's name as it appears in file names: `<lambda>` becomes `_lambda_`, and a long name is cut."""
    return re.sub(r"\W", "_", name).encode()[:_MAX_BYTES].decode(errors="ignore") or "_"


def nested_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yields `code` and every code object among its constants, at any depth."""
    todo = [code]
    while todo:
        nested = todo.pop()
        yield nested
        todo.extend(const for const in nested.co_consts if type(const) is types.CodeType)


def constant_at(code: types.CodeType, path: tuple[int, ...]) -> Any:
    """Returns the constant that a path of indices leads to, through the constants of nested code objects."""
    value: Any = code
    for index in path:
        value = value.co_consts[index] if type(value) is types.CodeType else value[index]
    return value
