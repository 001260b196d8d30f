"""Checks whether a page shows the output of a run. Texts that differ from run to run, and omissions of the page, do not
count.

In the page, a line `...` stands for any number of lines, and `...` within a line for any text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_VARIES = (
    # The numbers of durations, shares and errors vary, but their units are compared, so that seconds never equal
    # milliseconds.
    (re.compile(r"\b\d+(?:[.,]\d+)*(?= ?(?:s|ms|us|µs|min|seconds?|microseconds?|%|ulp)(?![\w]))"), "#"),
    (re.compile(r"\b\d+(?:\.\d+)?(?= times the)"), "#"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x#"),
    (re.compile(r"\bdedicated_log_torch_trace_\w+"), "dedicated_log_torch_trace_#"),
    (re.compile(r"\b(journal_|pid |process |process_)\d+"), r"\1#"),
    (re.compile(r"\bPyTorch \d+\.\d+\.\d+\S*?(?=[,. ]|$)"), "PyTorch #"),
    (re.compile(r"\bPython \d+\.\d+\.\d+\b"), "Python #"),
    # The list names the phases that took longest.
    (re.compile(r"(Time of each phase, without the phases within it:) .*"), r"\1 #"),
    (re.compile(r" {2,}"), "  "),  # The width of a column depends on the numbers in it.
)
OMISSION = "..."


def normalised(line: str) -> str:
    """Returns a line in which texts that differ from run to run (durations, addresses, process ids, versions) are
    replaced by `#`."""
    for pattern, replacement in _VARIES:
        line = pattern.sub(replacement, line)
    return line.rstrip()


def is_shown(page: Sequence[str], run: Sequence[str]) -> bool:
    """True if the lines of the page show the lines of the run."""
    wanted, printed = _compared(page), _compared(run)
    return len(printed) in _positions(wanted, printed)[-1]


def _compared(lines: Sequence[str]) -> list[str]:
    return _trimmed([normalised(line) for line in lines])


def _positions(wanted: Sequence[str], printed: Sequence[str]) -> list[set[int]]:
    """Returns a list: item n is the set of all m for which the first n wanted lines match the first m printed lines."""
    positions = [{0}]
    for line in wanted:
        before = positions[-1]
        if line.strip() == OMISSION:
            positions.append(set(range(min(before), len(printed) + 1)) if before else set())
        else:
            positions.append({at + 1 for at in before if at < len(printed) and _is_line_shown(line, printed[at])})
    return positions


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


def renewed(page: Sequence[str], run: Sequence[str], *, with_times: bool = False) -> list[str]:
    """Returns the lines that the page is to show of a run: its present lines if they match the run, otherwise the lines
    of the run.

    If the page has lines `...`, the result shows as many lines before the first and behind the last `...` as the page
    does.

    with_times: lines of the page that match the run are replaced by the run's lines, with its durations, unless they
    contain `...`.
    """
    if is_shown(page, run):
        return _with_values(page, run) if with_times else list(page)
    run = _trimmed([line.rstrip() for line in run])
    omissions = [index for index, line in enumerate(page) if line.strip() == OMISSION]
    if not omissions:
        return run
    head, tail = omissions[0], len(_trimmed(list(page))) - omissions[-1] - 1
    if head + tail >= len(run):
        return run
    return run[:head] + [OMISSION] + run[len(run) - tail :]


def _with_values(page: Sequence[str], run: Sequence[str]) -> list[str]:
    """Returns the lines of a page that matches a run; each line that has no `...` is replaced by the line that the run
    printed."""
    wanted, printed = _compared(page), _compared(run)
    positions = _positions(wanted, printed)
    position = len(printed)
    lines: list[str] = []
    for number in reversed(range(len(wanted))):
        if wanted[number].strip() == OMISSION:
            position = min(positions[number])
            lines.append(page[number])
        else:
            position -= 1
            lines.append(page[number] if OMISSION in page[number] else run[position].rstrip())
    return lines[::-1] + list(page[len(wanted) :])
