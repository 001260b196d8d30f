"""A compilation in sentences, which the core words: for summaries, explanations and the texts of a dump."""

from __future__ import annotations

import json
from typing import Any

from depyf import _core
from depyf.plain_data import plain
from depyf.session import Failure, Frame, Symbol

UNFINISHED = "The block ended before this compilation did."
DIED = "The process died before this compilation ended."

# The fields of a frame that sentences are made of: not the guards of a model, which are thousands of lines.
WORDED = (
    *("function", "name", "filename", "line", "is_resume", "status", "error", "raised", "stopped_by", "exceeded"),
    *("breaks", "failures", "recompile_reasons", "notes", "symbols", "runtime_values", "runtime_asserts"),
)


def headline(frame: Frame, title: str = "") -> str:
    """Returns one sentence on a frame that was not compiled: its function, what runs, and the cause.

    Args:
        title: what the function is called; its own title if not given.
    """
    return str(_words(frame, title)["headline"])


def details(frame: Frame) -> list[str]:
    """Returns the lines that follow `headline`: the rest of an error, what used a limit up, hints."""
    return list(_words(frame)["details"])


def runtime_rows(frame: Frame) -> list[str]:
    """Returns the values that are known only when the graph runs, and what it checks then; none if there are none."""
    return list(_words(frame)["at run time"])


def deciding_reason(failures: list[Failure]) -> str:
    """Returns why a compilation was needed: the reason against the nearest one that was there, and how many more there are.

    Args:
        failures: as `Frame.failures` has them, the nearest compilation first; at least one.
    """
    return str(_words(_with(failures=failures))["deciding"])


def failure_lines(failures: list[Failure]) -> list[str]:
    """Returns why each of the compilations that were there does not serve a call, the nearest one first."""
    return list(_words(_with(failures=failures))["failures"])


def symbol_rows(symbols: list[Symbol]) -> list[str]:
    """Returns the sizes that a graph leaves open, one line each; none if there are none."""
    return list(_words(_with(symbols=symbols))["symbols"])


def _with(**fields: Any) -> Frame:
    return Frame("", "", **fields)


def _words(frame: Frame, title: str = "") -> dict[str, Any]:
    data = {name: plain(getattr(frame, name)) for name in WORDED}
    return _core.frame_words(json.dumps(data), title)
