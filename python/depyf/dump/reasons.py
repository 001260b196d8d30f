"""Why a function was compiled again, and what of its sizes was left open, as lines."""

from __future__ import annotations

from depyf.dump.comments import first_line
from depyf.guards.frontier import origin
from depyf.guards.terms import in_terms
from depyf.session import Failure, Frame, Symbol
from depyf.source_line import Line

_MOST_NAMED = 5
"""So many of the values whose guards fail only because of another are named."""


def deciding_reason(failures: list[Failure]) -> str:
    """In one line, why a compilation was needed: the reason against the nearest one that was there, and how many more there are.

    Args:
        failures: as `Frame.failures` has them, the nearest compilation first; at least one.
    """
    first = failures[0]
    more = sum(failure.entry == first.entry for failure in failures) - 1
    text, sign, comment = str(first).partition("  # ")
    return f"{text}{f' and {more} more' if more else ''}{sign}{comment}"


def failure_lines(failures: list[Failure]) -> list[str]:
    """Why each of the compilations that were there does not serve a call, the nearest one first."""
    lines = []
    entries = list(dict.fromkeys(failure.entry for failure in failures))
    for number, entry in enumerate(entries):
        of_entry = [failure for failure in failures if failure.entry == entry]
        nearest = ", the nearest" if number == 0 and len(entries) > 1 else ""
        for position, failure in enumerate(of_entry):
            lead = f"of {entry or 'an earlier compilation'}{nearest}: " if position == 0 else "  and "
            lines += [f"{lead}{failure}", *_folded(failure)]
    return lines


def _folded(failure: Failure) -> list[str]:
    """What is folded into a failure, as lines."""
    lines = []
    for what, subjects in (("the same of", failure.alike), ("only because of that:", failure.follows)):
        if len(subjects) > 1 or (subjects and what != "the same of"):
            named = ", ".join(subjects[:_MOST_NAMED])
            left = len(subjects) - _MOST_NAMED
            lines.append(f"    {what} {named}{f' and {left} more' if left > 0 else ''}")
    return lines


def reasons(frame: Frame) -> list[str]:
    """Why a function was compiled again, and where its graph ends."""
    out = []
    if frame.failures:
        again = "To be compiled again" if frame.status == "not compiled" else "Compiled again"
        out.append(f"{again} because of the guards that failed:")
        out += [f"  {line}" for line in failure_lines(frame.failures)]
    else:
        out += [f"Compiled again because {first_line(reason)}" for reason in frame.recompile_reasons]
    out += [f"Graph break at {one}" for one in frame.breaks if one != frame.stopped_by]
    return out


def symbol_rows(symbols: list[Symbol]) -> list[str]:
    """The sizes that a graph leaves open, one line each; none if there are none."""
    if not symbols:
        return []
    rows = [("symbol", "is", "was", "range", "set by")]
    for one in symbols:
        sources = ", ".join(in_terms(source) for source in one.sources)
        if one.specialized_by is not None or one.value:
            by = f"specialised to {one.value}"
            by += f" by {one.specialized_by}" if one.specialized_by is not None else ""
            by += f": {first_line(one.reason)}" if one.reason else ""
        else:
            by = "; ".join(dict.fromkeys(origin(place) for place in (one.lower_from, one.upper_from) if place))
        rows.append((one.name, sources, one.hint, one.range, by))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[4]]) for row in rows]
    return ["Sizes that are left open:", *(f"  {line}".rstrip() for line in lines)]


def runtime_rows(frame: Frame) -> list[str]:
    """The values that are known only when the graph runs, and what it checks then, one line each; none if there are none."""
    lines = []
    if frame.runtime_values:
        lines.append("Known only when the graph runs:")
        lines += [f"  {value.name} in {value.range}{_origin_of(value.line)}" for value in frame.runtime_values]
    if frame.runtime_asserts:
        lines.append("Checked when the graph runs:")
        for check in frame.runtime_asserts:
            said = f', else the error says "{check.message}"' if check.message else ""
            lines.append(f"  {check.condition}{said}{_origin_of(check.line)}")
    return lines


def _origin_of(line: Line | None) -> str:
    return "" if line is None else f"  # {line}"
