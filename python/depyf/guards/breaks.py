"""Graph breaks, from PyTorch's report of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from depyf.session import Break
from depyf.source_line import Line, users

_PLACE = re.compile(r"^Graph break (?:in user code )?(?:at|from user code at:?) (?P<file>.+):(?P<line>\d+)$")
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)$')
_LINK = re.compile(r"https?://\S+")


def read(report: str, library: str) -> Break:
    """A graph break's report, taken apart.

    Args:
        report: PyTorch's text.
        library: the folder of torch, with the separator at its end: no line of it is the user's.
    """
    lines = report.splitlines()
    reason, explanation, hints = "", "", []
    for i, line in enumerate(lines):
        text = line.strip()
        if text.startswith("Explanation: "):
            explanation = text.removeprefix("Explanation: ")
            before = [one.strip() for one in lines[:i] if one.strip()]
            reason = before[-1].removeprefix("Graph Break Reason: ") if before else ""
        elif text.startswith("Hint: "):
            hints.append(text.removeprefix("Hint: "))
    if not reason:
        rest = [one.strip() for one in lines[1:] if one.strip()]
        reason = rest[0].removeprefix("Graph Break Reason: ") if rest else (lines[0] if lines else "")
    reason = re.sub(r"^[\w.]+\.Unsupported: ", "", reason)
    link = _LINK.search(report)
    return Break(
        reason.rstrip("."), explanation, list(dict.fromkeys(hints)), _line(lines, library), link[0] if link else ""
    )


def _line(lines: list[str], library: str) -> Line | None:
    """The user's line: the innermost one of the traceback that is not torch's, else the place that is named."""
    place = _PLACE.match(lines[0].strip()) if lines else None
    stack = list(_stack(lines))
    found = users(stack, library)
    if place is None:
        return found
    named = Line(place["file"], int(place["line"]))
    if found is None or (not named.file.startswith(library) and (found.file, found.line) != (named.file, named.line)):
        return named
    return found


def _stack(lines: Iterable[str]) -> Iterator[Line]:
    listed = list(lines)
    for line, after in zip(listed, [*listed[1:], ""], strict=False):
        frame = _FRAME.match(line)
        if frame is not None:
            yield Line(frame["file"], int(frame["line"]), after.strip(), frame["function"])
