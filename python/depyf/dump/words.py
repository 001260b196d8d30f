"""Describes a compilation in sentences, which the C++ core writes, for summaries, explanations and the texts of a
dump."""

from __future__ import annotations

from typing import Any

from depyf import _core
from depyf.session import Failure, Frame, Symbol

UNFINISHED = "The block ended before this compilation did."
DIED = "The process died before this compilation ended."

# The fields of a `Frame` that the sentences need, without the guards, because the guards of a model take thousands of
# lines.
WORDED = (
    *("function", "name", "filename", "line", "is_resume", "status", "error", "raised", "stopped_by", "exceeded"),
    *("breaks", "failures", "recompile_reasons", "notes", "symbols", "runtime_values", "runtime_asserts"),
)


def headline(frame: Frame, title: str = "") -> str:
    """Returns a sentence about a frame that was not compiled: the function, the code that runs instead, and the cause.

    Args:
        title: the title of the function; by default the title of the frame.
    """
    return str(_words(frame, title)["headline"])


def details(frame: Frame) -> list[str]:
    """Returns the lines that follow `headline`: the rest of an error message, the compilations that reached a limit,
    and hints."""
    return list(_words(frame)["details"])


def runtime_rows(frame: Frame) -> list[str]:
    """Returns lines about the values that are known only when the graph runs, and about the checks that the graph
    performs at run time."""
    return list(_words(frame)["at run time"])


def deciding_reason(failures: list[Failure]) -> str:
    """Returns why a compilation was needed: the reason why the nearest earlier compilation could not be used for the
    call, and the number of further reasons. The nearest compilation is the one whose guards differ from the call in the
    fewest values.

    Args:
        failures: the value of `Frame.failures`, with the failure of the nearest compilation first; the list must not be
            empty.
    """
    return str(_words(_with(failures=failures))["deciding"])


def failure_lines(failures: list[Failure]) -> list[str]:
    """Returns, for each earlier compilation, the reason why it cannot be used for a call. The compilation whose guards
    differ from the call in the fewest values comes first."""
    return list(_words(_with(failures=failures))["failures"])


def symbol_rows(symbols: list[Symbol]) -> list[str]:
    """Returns a line for each symbolic size of a graph."""
    return list(_words(_with(symbols=symbols))["symbols"])


def _with(**fields: Any) -> Frame:
    return Frame("", "", **fields)


def _words(frame: Frame, title: str = "") -> dict[str, Any]:
    data = {name: getattr(frame, name) for name in WORDED}
    return _core.frame_words(_core.json_text(data, levels=0), title)
