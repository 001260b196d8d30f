"""Shows an explanation in a notebook: the report page in a frame, and below the frame the same content as collapsible
HTML without scripts."""

from __future__ import annotations

import html as standard
from collections.abc import Callable
from typing import TYPE_CHECKING

from depyf import _core, names
from depyf.explanation import report

if TYPE_CHECKING:
    from depyf.explanation.model import Entry, Explanation


def html(explanation: Explanation) -> str:
    """Returns an explanation as an HTML fragment, whose scripts and styles are confined to a frame."""
    frame = _frame(lambda: report.report(explanation)) if explanation.entries else ""
    return _core.explanation_html(_core.json_text(explanation, levels=0), frame)


def entry_html(entry: Entry) -> str:
    """Returns the HTML fragment for one cache entry."""
    return _core.entry_html(_core.json_text(entry, levels=0), _frame(lambda: report.report(entry.alone())))


def _frame(make_page: Callable[[], str]) -> str:
    """Returns an HTML frame with the report page, or an HTML sentence if the page could not be written or is too
    large."""
    try:
        document = make_page()
    except OSError as error:
        return f"<p>The page could not be written: {standard.escape(names.one_line(str(error)))}.</p>"
    shown = report.frame(document)
    if shown:
        return shown
    size = f"{len(document) / 1e6:.1f} MB"
    return f"<p>The page has {size}, too much for a notebook: session.report(path) of prepare_debug writes it as a file.</p>"
