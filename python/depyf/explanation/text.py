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
    """The whole story, in the order in which it runs."""
    return names.one_line_each(_function(explanation)).rstrip() + "\n"


def _function(one: Explanation) -> list[str]:
    if not one.entries:
        out = [f"{one.title or one.function} has no cache entries: {one.nothing}"]
        return out + _indented(one.failed)
    out = [f"{one.title}:"] if one.title else []
    out.append(f"This is a function optimized by Dynamo. It has {len(one.entries)} cache entries.")
    out += one.failed
    for number, entry in enumerate(one.entries, 1):
        out += ["", *_entry(entry, number)]
    if one.frontier:
        out += ["", "The next call compiles again unless one entry accepts all of it. Together they accept:"]
        out += _indented(one.frontier)
    return out


def _entry(entry: Entry, number: int) -> list[str]:
    facts = [f"compile id {entry.compile_id}"]
    facts += [f"backend {entry.backend}"] if entry.backend else []
    facts += [f"took {entry.seconds:.3f} s"] if entry.seconds is not None else []
    out = [f"Cache Entry {number}: ({', '.join(facts)}; {'; '.join(entry.why)})"]
    lines = failure_lines(entry.failures)
    out += _indented([f"Failed then, of compilation {line[3:]}" if line.startswith("of ") else line for line in lines])
    out += [f"{_INDENT}Graph break at {one}" for one in entry.breaks]
    out += _indented(symbol_rows(entry.symbols))
    out += _indented(entry.at_run_time)
    out += ["", *_indented(entry.guards.rstrip().splitlines())]
    if entry.frontier:
        out += ["", f"{_INDENT}It is used again where all of these hold:"]
        out += _indented(_indented([str(one) for one in entry.frontier]))
    out += ["", *_indented(entry.code.rstrip().splitlines()), ""]
    out.append(f"{_INDENT}There are {len(entry.graphs)} subgraphs in the function:")
    for i, graph in enumerate(entry.graphs, 1):
        out += [f"{_INDENT}SubGraph {i}: {graph.name}"]
        lines = graph.source.rstrip().splitlines() if graph.source is not None else [f"Missing: {graph.missing}"]
        out += [*_indented(_indented(lines)), ""]
    out.append(f"{_INDENT}There are {len(entry.resumes)} resume functions:")
    for i, resume in enumerate(entry.resumes, 1):
        out += _indented([f"Resume function {i}: {resume.name}", *_indented(_resume(resume))])
        out.append("")
    out += [f"{_INDENT}Missing: {one}" for one in entry.missing]
    return out


def _resume(resume: Resume) -> list[str]:
    out = [*resume.source.rstrip().splitlines(), ""]
    if resume.explanation is not None:
        out += _function(resume.explanation)
    if resume.note:
        out += textwrap.wrap(resume.note, 100)
    return out


def _indented(lines: list[str]) -> list[str]:
    return [f"{_INDENT}{line}" if line else "" for line in lines]
