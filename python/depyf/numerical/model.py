"""The report of `depyf.numerics` and its findings, as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from depyf.numerical.measuring import Mismatch
from depyf.source_line import Line

Kind = Literal["same", "compiler", "unstable", "not a number", "nothing compiled", "not measured"]
"""The kind of a verdict. "same" means that the compiled result is as exact as eager's, and "compiler" means that a
stage of the compiler computes a wrong value. "unstable" means that eager itself is unstable, and "not a number" means
that eager itself computes the first NaN or infinity. "nothing compiled" means that no graph was compiled, and "not
measured" means that the function or the measurement failed."""


@dataclass(frozen=True)
class Input:
    """One input of an operator at fault."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    value: float | str
    """If the input has an element at the index at which the operator's result has its worst error, `value` is this
    element. If the input has no element at the index of the result's worst error, `value` is the range of the input's
    elements, such as "0 to 1", or "" for an empty or complex tensor. If the input is no tensor, `value` is its text."""


@dataclass
class Finding:
    """The first place where a compilation stage computes a value that differs from the value in eager execution by more
    than rounding explains."""

    stage: str
    """A phrase that names the stage, such as "output code: Inductor's lowering of aten.mean.dim" or "Inductor's
    post-grad pass swap"."""
    pass_name: str = ""
    operator: str = ""
    """The operator at fault, such as `aten.mean.dim`."""
    original: str = ""
    """The operator that PyTorch decomposed into the operator at fault; "" if the operator at fault comes from no
    decomposition."""
    node: str = ""
    line: Line | None = None
    """The line of the user's source from which the operator at fault comes."""
    module: str = ""
    """The path of the user's `torch.nn.Module` that contains the operator."""
    direction: str = "forward"
    kernel: str = ""
    graph: int = 0
    shape: tuple[int, ...] = ()
    dtype: str = ""
    mismatch: Mismatch | None = None
    inputs: list[Input] = field(default_factory=list)
    note: str = ""
    captured: list[str] = field(default_factory=list)
    """The names of those nodes of the captured graph from which PyTorch derived the operator at fault."""


@dataclass
class ValueRow:
    """The errors of one result of a compiled graph."""

    name: str
    """The name of the result, such as "output 0", "input 2 after the call" or "gradient of input 1"."""
    shape: tuple[int, ...]
    dtype: str
    eager_ulps: float
    compiled_ulps: float
    is_explained: bool
    is_finite: bool = True
    """True if the compiled value has no NaN and no infinity."""


@dataclass
class NodeError:
    """The error of an operator's value in eager execution, which `NumericsReport.gutter` prints in front of the
    operator's source line."""

    line: Line
    operator: str
    ulps: float


@dataclass
class GraphRow:
    """One call of a compiled graph."""

    number: int
    function: str
    rows: list[ValueRow] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    """The compilation stages that were compared, in order."""
    errors: list[NodeError] = field(default_factory=list)
    note: str = ""
    seconds: float = 0.0


@dataclass
class Cost:
    """The memory of the measurement in bytes, and its time. The time is processor time, which hardly depends on other
    programs."""

    eager_seconds: float = 0.0
    measuring_seconds: float = 0.0
    compiling_seconds: float = 0.0
    eager_bytes: int = 0
    measuring_bytes: int = 0


@dataclass
class NumericsReport:
    """The result of `depyf.numerics`; `str(report)` returns it as text."""

    function: str
    backend: str
    kind: Kind
    verdict: str
    findings: list[Finding] = field(default_factory=list)
    graphs: list[GraphRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reproduction: str = ""
    """A program in plain PyTorch that reproduces the first finding; "" if no program does."""
    cost: Cost = field(default_factory=Cost)

    @property
    def finding(self) -> Finding | None:
        """Returns the first finding; None if there are no findings."""
        return self.findings[0] if self.findings else None

    def __str__(self) -> str:
        return _text(self)

    def gutter(self) -> str:
        """Returns a text with the user's source lines that compute values. In front of each line is the largest error
        of its values in eager execution. Lines with a finding are marked with `!`."""
        lines = []
        previous = ""
        for row in sorted(self.measurements(), key=lambda row: (row["place"]["file"], row["place"]["line"])):
            place = row["place"]
            if place["file"] != previous:
                lines.append(f"{place['file']}:")
                previous = place["file"]
            mark = "!" if row["is_alarm"] else " "
            lines.append(f"{mark} {ulps(row['value']):>12} {place['line']:5} {place['text']}")
        return "\n".join(lines)

    def measurements(self) -> list[dict[str, Any]]:
        """Returns the numerical error of eager execution at each of the user's source lines, as measurements
        (docs/record.md): the largest error of the line's values in ulps. The line of a finding also has the verdict."""
        wrong = {(finding.line.file, finding.line.line) for finding in self.findings if finding.line is not None}
        errors = [error for graph in self.graphs for error in graph.errors]
        errors += [
            NodeError(finding.line, finding.operator, finding.mismatch.eager_ulps if finding.mismatch else 0.0)
            for finding in self.findings
            if finding.line is not None
        ]
        return largest_of_lines(
            {
                "kind": "error of eager",
                "place": {"file": error.line.file, "line": error.line.line, "function": None, "text": error.line.text},
                "value": error.ulps,
                "unit": "ulp",
                "text": self.verdict if (error.line.file, error.line.line) in wrong else None,
                "is_alarm": (error.line.file, error.line.line) in wrong,
            }
            for error in errors
            if math.isfinite(error.ulps)
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as plain data."""
        import dataclasses

        return dataclasses.asdict(self)


def largest_of_lines(measurements: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns one measurement for each source line: the largest of its measurements with an alarm; for a line without
    an alarm, the largest of its measurements."""
    kept: dict[tuple[str, int], dict[str, Any]] = {}
    for row in measurements:
        key = row["place"]["file"], row["place"]["line"]
        if key not in kept or (row["is_alarm"], row["value"]) > (kept[key]["is_alarm"], kept[key]["value"]):
            kept[key] = row
    return list(kept.values())


def _text(report: NumericsReport) -> str:
    lines = [f"{report.function} ({report.backend}): {report.verdict}"]
    for finding in report.findings:
        lines += _finding_lines(finding)
    for graph in report.graphs:
        lines += _graph_lines(graph)
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


def _finding_lines(finding: Finding) -> list[str]:
    lines = [f"  stage     {finding.stage}"]
    if finding.pass_name:
        lines.append(f"  pass      {finding.pass_name}")
    original = f" (decomposed from {finding.original})" if finding.original else ""
    lines.append(f"  operator  {finding.operator}{original}, node {finding.node}, {finding.direction}")
    if finding.line is not None:
        lines.append(f"  line      {finding.line.file}:{finding.line.line} {finding.line.text}")
    if finding.module:
        lines.append(f"  module    {finding.module}")
    if finding.kernel:
        lines.append(f"  kernel    {finding.kernel}")
    lines.append(f"  value     {finding.dtype}{list(finding.shape)}")
    wrong = finding.mismatch
    if wrong is not None:
        lines.append(
            f"  worst     element {list(wrong.index)}: {wrong.stage!r}, eager {wrong.eager!r}, reference {wrong.reference!r}"
            f" ({wrong.count} of {wrong.total} elements are wrong)"
        )
    for given in finding.inputs:
        lines.append(f"  input     {given.name} {given.dtype}{list(given.shape)}: {given.value}")
    if finding.note:
        lines.append(f"  note      {finding.note}")
    return lines


def _graph_lines(graph: GraphRow) -> list[str]:
    lines = [f"  graph {graph.number} of {graph.function}: " + (", ".join(graph.stages) or "not compared")]
    for row in graph.rows:
        mark = " " if row.is_explained else "!"
        lines.append(
            f"  {mark} {row.name:28} {row.dtype}{list(row.shape)}: compiled {ulps(row.compiled_ulps)}, eager {ulps(row.eager_ulps)}"
        )
    if graph.note:
        lines.append(f"    {graph.note}")
    return lines


def ulps(value: float) -> str:
    """Returns an error in ulps as text for readers."""
    if value == 0:
        return "exact"
    if value == float("inf"):
        return "not comparable"
    return f"{value:.2g} ulp"
