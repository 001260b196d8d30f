"""Writes the verdict of `depyf.numerics` in sentences."""

from __future__ import annotations

import math

from depyf.numerical.exploring import Exploration, Special
from depyf.numerical.model import Finding, GraphRow, Kind, ulps

_UNSTABLE = 1000.0
"""The error in ulps above which eager execution counts as unstable, if one of the operators loses digits."""
_NOTHING_BUT_ERROR = 2.0**24
"""A value in eager execution with at least this error in ulps has no right digit, and the exact value is probably zero.
For example, the gradient of a value on which a normalised result does not depend is exactly zero."""


def of(findings: list[Finding], graphs: list[GraphRow], explorations: list[Exploration]) -> tuple[Kind, str]:
    """Returns the kind of the verdict on all graph calls, and a sentence that explains the verdict."""
    if findings:
        return "compiler", _wrong(findings[0])
    special = next((found.not_finite for found in explorations if found.not_finite is not None), None)
    if special is not None:
        return "not a number", _not_finite(special)
    rows = [row for graph in graphs for row in graph.rows]
    measured = [row for row in rows if math.isfinite(row.compiled_ulps) and row.eager_ulps < _NOTHING_BUT_ERROR]
    eager = max([row.eager_ulps for row in measured], default=0.0)
    compiled = max([row.compiled_ulps for row in measured], default=0.0)
    unstable = next((found.unstable for found in explorations if found.unstable is not None), None)
    if unstable is not None and max(eager, compiled) > _UNSTABLE:
        return "unstable", _unstable(unstable)
    if not all(row.is_explained for row in rows):
        return "unstable", (
            "compiled and eager differ by more than their errors allow, but each operator is right for its own inputs: "
            "the difference comes of a value that lies where a small change has large effects"
        )
    if compiled <= 2 * max(eager, 1.0):
        return (
            "same",
            f"the compiled result is as exact as eager: both are within {ulps(max(eager, compiled, 0.5))} of fp64",
        )
    return "same", (
        f"the compiled result is as exact as rounding allows: within {ulps(compiled)} of fp64, eager within {ulps(eager)}"
    )


def _wrong(finding: Finding) -> str:
    place = ""
    if finding.line is not None:
        place = f" from {finding.line.name}:{finding.line.line} `{finding.line.text}` on"
    size = ""
    if finding.mismatch is not None:
        size = f", {ulps(finding.mismatch.ulps)}, eager {ulps(finding.mismatch.eager_ulps)}"
    what = finding.stage if finding.operator in finding.stage else f"{finding.stage}, at {finding.operator}"
    of_what = "compiled gradient" if finding.direction == "backward" else "compiled result"
    return f"the {of_what} is wrong{place}: {what}{size}"


def _line(special: Special) -> str:
    return f" at {special.line.name}:{special.line.line} `{special.line.text}`" if special.line is not None else ""


def _not_finite(special: Special) -> str:
    return f"the first {special.value} is eager's own: {special.operator}{_line(special)} makes it of {special.origin}"


def inside(special: Special) -> str:
    """Returns a sentence about an operator that computes a NaN or an infinity, although all results of the graph are
    finite."""
    return (
        f"{special.operator}{_line(special)} makes a value that is not finite ({special.value}) of {special.origin}; all "
        "results are finite"
    )


def _unstable(special: Special) -> str:
    is_difference = (
        special.operator.rpartition(".")[2].strip("_") in ("sub", "add", "isub", "iadd") or ".sub" in special.operator
    )
    how = "a subtraction of nearly equal values" if is_difference else special.operator
    return (
        f"eager itself is unstable here: the difference starts at {how}{_line(special)}, where {special.origin} "
        f"give {special.value} ({ulps(special.ulps)})"
    )
