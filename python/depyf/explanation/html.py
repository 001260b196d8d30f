"""An explanation for notebooks: the page in a frame, and below it the same in folds, for readers without scripts."""

from __future__ import annotations

import html as standard
from collections.abc import Callable
from typing import TYPE_CHECKING

from depyf import names
from depyf.dump import failure_lines
from depyf.explanation import report

if TYPE_CHECKING:
    from depyf.explanation.model import Entry, Explanation


def html(explanation: Explanation) -> str:
    """Returns an HTML fragment whose scripts and styles are within a frame."""
    frame = _frame(lambda: report.report(explanation)) if explanation.entries else ""
    return f"<div class='depyf'>{frame}{_function(explanation)}</div>"


def entry_html(entry: Entry) -> str:
    """Returns the same for one cache entry."""
    return f"<div class='depyf'>{_frame(lambda: report.report(entry.alone()))}{_entry(entry, 1)}</div>"


def _frame(make_page: Callable[[], str]) -> str:
    """Returns the page in a frame, or a sentence if there is none."""
    try:
        document = make_page()
    except OSError as error:
        return f"<p>The page could not be written: {_escape(str(error))}.</p>"
    shown = report.frame(document)
    if shown:
        return shown
    size = f"{len(document) / 1e6:.1f} MB"
    return f"<p>The page has {size}, too much for a notebook: session.report(path) of prepare_debug writes it as a file.</p>"


def _function(explanation: Explanation) -> str:
    head = f"<p><code>{_escape(repr(explanation))}</code> {_escape(explanation.title)}</p>"
    failed = "".join(f"<p>{_escape(line)}</p>" for line in explanation.failed)
    if not explanation.entries:
        return f"{head}<p>{_escape(explanation.nothing)}</p>{failed}"
    head += failed
    body = "".join(_entry(entry, number) for number, entry in enumerate(explanation.entries, 1))
    return (
        head + body + (_list("Accepted by the entries together", explanation.frontier) if explanation.frontier else "")
    )


def _entry(entry: Entry, number: int) -> str:
    parts = [_list("Why", [*entry.why, *failure_lines(entry.failures), *map(str, entry.breaks)])]
    parts += [_code("Guards", entry.guards), _list("Used again where", [str(limit) for limit in entry.frontier])]
    parts.append(_code("Code", entry.code))
    parts += [_code(graph.name, graph.source or f"Missing: {graph.missing}") for graph in entry.graphs]
    for resume in entry.resumes:
        inner = _code("Where it goes on", resume.source)
        inner += _function(resume.explanation) if resume.explanation is not None else f"<p>{_escape(resume.note)}</p>"
        parts.append(_fold(resume.name, inner))
    parts += [f"<p>Missing: {_escape(sentence)}</p>" for sentence in entry.missing]
    title = f"Cache Entry {number}: {entry.compile_id}" + (f", backend {entry.backend}" if entry.backend else "")
    return _fold(title, "".join(parts))


def _fold(title: str, body: str) -> str:
    return f"<details><summary><code>{_escape(title)}</code></summary>{body}</details>"


def _code(title: str, code: str) -> str:
    return _fold(title, f"<pre><code>{_lines(code)}</code></pre>")


def _list(title: str, items: list[str]) -> str:
    return _fold(title, "<ul>" + "".join(f"<li><code>{_escape(item)}</code></li>" for item in items) + "</ul>")


def _escape(text: str) -> str:
    """Returns a text as one line of HTML."""
    return standard.escape(names.one_line(text))


def _lines(code: str) -> str:
    """Returns a text of several lines as HTML."""
    return standard.escape(names.one_line_each(code.split("\n")))
