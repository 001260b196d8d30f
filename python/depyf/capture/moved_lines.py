"""Corrects the line numbers in graphs that come from a cache, and thus from an earlier version of the program."""

from __future__ import annotations

import linecache
import re

_PLACE = re.compile(
    r"( File: (?P<path>.+):)(?P<line>\d+)(?= in (?P<function>[^,\n]+), code: (?P<code>.*)$)", re.MULTILINE
)
FARTHEST = 2000
"""A function is searched for up to this many lines above and below the position that it had when the graph was
cached."""


def with_present_lines(text: str) -> str:
    """Returns the text of a graph with the current numbers of the source lines in its comments.

    PyTorch looks up a graph in a cache by the graph's operations, so the comments of a graph from the cache have the
    line numbers of the program that filled the cache. If all lines of a function have moved by the same distance, the
    line numbers of the function are corrected; otherwise they stay as they are.
    """
    places: dict[tuple[str, str], dict[int, str]] = {}
    for place in _PLACE.finditer(text):
        places.setdefault((place["path"], place["function"]), {})[int(place["line"])] = place["code"].strip()
    moves = {key: _move(key[0], codes) for key, codes in places.items()}
    if not any(moves.values()):
        return text
    return _PLACE.sub(lambda place: f"{place[1]}{int(place['line']) + moves[place['path'], place['function']]}", text)


def _move(path: str, codes: dict[int, str]) -> int:
    """Returns the number of lines by which a function has moved down; 0 if it has not moved, or if its lines are not in
    the file.

    Args:
        path: the file that contains the function.
        codes: a dict from earlier line numbers to the texts of the lines, from the graph's comments.
    """
    lines = linecache.getlines(path)
    if _is_there(lines, codes, 0):
        return 0
    first = min(codes)
    code = codes[first]
    above = max(0, first - 1 - FARTHEST)
    searched = lines[above : first + FARTHEST]
    candidates = [
        number - first for number, line in enumerate(searched, above + 1) if code in line and line.strip() == code
    ]
    return next((move for move in sorted(candidates, key=abs) if _is_there(lines, codes, move)), 0)


def _is_there(lines: list[str], codes: dict[int, str], move: int) -> bool:
    """True if `lines` contains each line of `codes` at its earlier line number plus `move`."""
    return all(0 < line + move <= len(lines) and lines[line + move - 1].strip() == code for line, code in codes.items())
