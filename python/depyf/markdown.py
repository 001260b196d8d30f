"""Markdown that shows names, reasons and conditions as they are, whatever characters they hold."""

from __future__ import annotations

import re

from depyf import names

_BACKTICKS = re.compile("`+")
# Characters that CommonMark would not show: an escape, a backtick, the beginning of HTML or of an entity, the middle
# of a link.
_READ_AS_MARKUP = re.compile(r"`|\\(?=[!-/:-@\[-`{-~])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=\])\(|!(?=\[)")
# The places where emphasis can end: behind a word or punctuation, and for an underscore in front of no word.
_ENDS_EMPHASIS = re.compile(r"(?<![\s*])\*+|(?<![\s_])_+(?!\w)")
_BEGINS_A_BLOCK = re.compile(r"(?=[#>*+\-=~\[]|_[_ ]*$|\d+[.)])")


def code(text: str) -> str:
    """Returns a code span, delimited by more backticks than stand together in the text."""
    text = names.one_line(text)
    runs = _BACKTICKS.findall(text)
    if not runs:
        return f"`{text}`"
    lengths = set(map(len, runs))
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in lengths)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def prose(text: str) -> str:
    """Returns a line of text: what stands between backticks stays code, all else is shown character by character."""
    text = names.one_line(text)
    parts = []
    done = start = 0
    while begins := _BACKTICKS.search(text, start):
        ends = next((run for run in _BACKTICKS.finditer(text, begins.end()) if run[0] == begins[0]), None)
        start = begins.end() if ends is None else ends.end()
        if ends is not None:
            parts += [_plain(text[done : begins.start()]), text[begins.start() : start]]
            done = start
    return _at_the_start("".join([*parts, _plain(text[done:])]), text)


def literal(text: str) -> str:
    """Returns a line of text in which backticks too are shown: a name, a path."""
    text = names.one_line(text)
    return _at_the_start(_plain(text), text)


def _at_the_start(shown: str, text: str) -> str:
    """Returns text that is shown where a block begins, escaped so that it begins no heading, list or quotation."""
    if shown.startswith("\\") or not _BEGINS_A_BLOCK.match(text):
        return shown
    digits = len(shown) - len(shown.lstrip("0123456789"))
    return f"{shown[:digits]}\\{shown[digits:]}"


def _plain(text: str) -> str:
    """Escapes what is outside of code spans; backticks there begin none."""
    text = _READ_AS_MARKUP.sub(_escaped, text)
    return _ENDS_EMPHASIS.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"\\{character}" for character in match[0])
