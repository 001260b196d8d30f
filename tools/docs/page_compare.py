"""Checks whether a page shows the output of a run. Texts that differ from run to run, and omissions of the page, do not
count.

The page leaves out with `...`: as a line, any number of lines; within a line, any text of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_VARIES = (
    # The numbers of durations, shares and errors vary. Their units are compared, so that seconds never equal milliseconds.
    (re.compile(r"\b\d+(?:[.,]\d+)*(?= ?(?:s|ms|us|µs|min|seconds?|microseconds?|%|ulp)(?![\w]))"), "#"),
    (re.compile(r"\b\d+(?:\.\d+)?(?= times the)"), "#"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x#"),
    (re.compile(r"\bdedicated_log_torch_trace_\w+"), "dedicated_log_torch_trace_#"),
    (re.compile(r"\b(journal_|pid |process |process_)\d+"), r"\1#"),
    (re.compile(r"\bPyTorch \d+\.\d+\.\d+\S*?(?=[,. ]|$)"), "PyTorch #"),
    (re.compile(r"\bPython \d+\.\d+\.\d+\b"), "Python #"),
    (re.compile(r"(Time by phase, each without those within it:) .*"), r"\1 #"),  # The phases that took longest.
    (re.compile(r" {2,}"), "  "),  # Columns are as wide as the numbers in them.
)
OMISSION = "..."


def normalised(line: str) -> str:
    """Returns a line without what differs from run to run: durations, addresses, process ids, versions."""
    for pattern, replacement in _VARIES:
        line = pattern.sub(replacement, line)
    return line.rstrip()


def is_shown(page: Sequence[str], run: Sequence[str]) -> bool:
    """True if the lines of the page show the lines of the run."""
    wanted = _trimmed([normalised(line) for line in page])
    printed = _trimmed([normalised(line) for line in run])
    # positions: the numbers of printed lines that the wanted lines so far can cover.
    positions = {0}
    for line in wanted:
        if line.strip() == OMISSION:
            positions = set(range(min(positions), len(printed) + 1)) if positions else set()
        else:
            positions = {at + 1 for at in positions if at < len(printed) and _is_line_shown(line, printed[at])}
    return len(printed) in positions


def _is_line_shown(page: str, run: str) -> bool:
    """True if a line of the page, which may have omissions, shows a line of the run."""
    if OMISSION not in page:
        return page == run
    pattern = ".*".join(re.escape(part) for part in page.split(OMISSION))
    return re.fullmatch(pattern, run) is not None


def _trimmed(lines: list[str]) -> list[str]:
    """Returns the lines without empty lines at the end."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def renewed(page: Sequence[str], run: Sequence[str]) -> list[str]:
    """Returns what the page is to show of a run: the lines that it shows if they are right, and otherwise those of the run.

    An omission is kept if the page shows as many lines before its first and after its last line as before.
    """
    if is_shown(page, run):
        return list(page)
    run = _trimmed([line.rstrip() for line in run])
    omissions = [index for index, line in enumerate(page) if line.strip() == OMISSION]
    if not omissions:
        return run
    head, tail = omissions[0], len(_trimmed(list(page))) - omissions[-1] - 1
    if head + tail >= len(run):
        return run
    return run[:head] + [OMISSION] + run[len(run) - tail :]
