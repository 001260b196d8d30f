"""An explanation as text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from depyf import names
from depyf.dump import failure_lines, symbol_rows

if TYPE_CHECKING:
    from depyf.explanation.model import Entry, Explanation, Resume

_INDENT = "    "


def text(explanation: Explanation) -> str:
    """Returns the whole story, in the order in which it runs."""
    return names.one_line_each(_function(explanation)).rstrip() + "\n"


def _function(explanation: Explanation) -> list[str]:
    if not explanation.entries:
        lines = [f"{explanation.title or explanation.function} has no cache entries: {explanation.nothing}"]
        return lines + _indented(explanation.failed)
    lines = [f"{explanation.title}:"] if explanation.title else []
    lines.append(f"This is a function optimized by Dynamo. It has {len(explanation.entries)} cache entries.")
    lines += explanation.failed
    for number, entry in enumerate(explanation.entries, 1):
        lines += ["", *_entry(entry, number)]
    if explanation.frontier:
        lines += ["", "The next call compiles again unless one entry accepts all of it. Together they accept:"]
        lines += _indented(explanation.frontier)
    return lines


def _entry(entry: Entry, number: int) -> list[str]:
    facts = [f"compile id {entry.compile_id}"]
    facts += [f"backend {entry.backend}"] if entry.backend else []
    facts += [f"took {entry.seconds:.3f} s"] if entry.seconds is not None else []
    rows = [f"Cache Entry {number}: ({', '.join(facts)}; {'; '.join(entry.why)})"]
    lines = failure_lines(entry.failures)
    rows += _indented([f"Failed then, of compilation {line[3:]}" if line.startswith("of ") else line for line in lines])
    rows += [f"{_INDENT}Graph break at {graph_break}" for graph_break in entry.breaks]
    rows += _indented(symbol_rows(entry.symbols))
    rows += _indented(entry.at_run_time)
    rows += ["", *_indented(entry.guards.rstrip().splitlines())]
    if entry.frontier:
        rows += ["", f"{_INDENT}It is used again where all of these hold:"]
        rows += _indented(_indented([str(limit) for limit in entry.frontier]))
    rows += ["", *_indented(entry.code.rstrip().splitlines()), ""]
    rows.append(f"{_INDENT}There are {len(entry.graphs)} subgraphs in the function:")
    for i, graph in enumerate(entry.graphs, 1):
        rows += [f"{_INDENT}SubGraph {i}: {graph.name}"]
        lines = graph.source.rstrip().splitlines() if graph.source is not None else [f"Missing: {graph.missing}"]
        rows += [*_indented(_indented(lines)), ""]
    rows.append(f"{_INDENT}There are {len(entry.resumes)} resume functions:")
    for i, resume in enumerate(entry.resumes, 1):
        rows += _indented([f"Resume function {i}: {resume.name}", *_indented(_resume(resume))])
        rows.append("")
    rows += [f"{_INDENT}Missing: {sentence}" for sentence in entry.missing]
    return rows


def _resume(resume: Resume) -> list[str]:
    rows = [*resume.source.rstrip().splitlines(), ""]
    if resume.explanation is not None:
        rows += _function(resume.explanation)
    if resume.note:
        rows += textwrap.wrap(resume.note, 100)
    return rows


def _indented(lines: list[str]) -> list[str]:
    return [f"{_INDENT}{line}" if line else "" for line in lines]
