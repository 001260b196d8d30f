"""Parses PyTorch's report of a graph break."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from depyf import _core
from depyf.session import Break
from depyf.source_line import Line, is_users, users

# The beginnings of hints about the call at which the graph ends, which are dropped if this call is in PyTorch's own
# code.
_ON_THE_CALL = ("Remove the ", "Avoid calling ", "Move the ", "Replace ", "Don't mutate ")
# Hints that contain this name are about a decorator of the called function, which the user may have written, so they
# are kept.
_ON_A_DECORATOR = "torch.compiler.disable"
_ASKED_FOR = "PyTorch's own code asks for a graph break here: there is no such call in the program to take away"
_OWN_LINE = "The line is PyTorch's own"
# Functions of PyTorch that only forward a call; the function that cannot be compiled is the one that they call.
_PASSES_ON = {
    ("nn/modules/module.py", "_call_impl"),
    ("nn/modules/module.py", "_wrapped_call_impl"),
    ("_dynamo/external_utils.py", "inner"),
    ("utils/_contextlib.py", "decorate_context"),
}

Translate = Callable[[Line], Line | None]


def read(report: str, library: str, own: Line | None = None, translate: Translate | None = None) -> Break:
    """Returns a graph break, parsed from PyTorch's report.

    Args:
        report: PyTorch's text.
        library: the directory of torch with a separator at its end; lines in it are not the user's.
        own: the first line of the compiled function, or the line at which the resume function continues.
        translate: returns the user's line that a line of a dumped file stands for; None if there is none.
    """
    parts = _core.graph_break(report)
    named = Line(*parts["place"]) if parts["place"][0] else None
    return _located(parts, [Line(*place) for place in parts["stack"]], named, library, own, translate)


def of_error(
    message: str, stack: Iterable[Line], library: str, own: Line | None = None, translate: Translate | None = None
) -> Break:
    """Returns the graph break that an exception of Dynamo's reports.

    Args:
        message: the message of the exception.
        stack: the lines that were being compiled, the innermost last.
    """
    return _located(_core.graph_break(message), list(stack), None, library, own, translate)


def is_break(message: str) -> bool:
    """True if the message of an exception is PyTorch's report of a graph break."""
    return "\n  Explanation:" in message


def _located(
    parts: dict[str, Any],
    stack: list[Line],
    named: Line | None,
    library: str,
    own: Line | None,
    translate: Translate | None,
) -> Break:
    reason, explanation, hints = parts["reason"], parts["explanation"], parts["hints"]
    if translate is not None:
        stack = [translate(line) or line for line in stack]
    while stack and (stack[-1].file.removeprefix(library).replace("\\", "/"), stack[-1].function) in _PASSES_ON:
        stack.pop()
    inside = _inside(stack, named, library)
    if inside is not None:
        if "graph_break()" in reason:
            explanation = _ASKED_FOR
        else:
            explanation = ". ".join(part for part in (explanation.rstrip(" ."), _OWN_LINE) if part)
        hints = [hint for hint in hints if not hint.startswith(_ON_THE_CALL) or _ON_A_DECORATOR in hint]
    line = _line(stack, named, library)
    if inside is not None and own is not None and is_users(own.file, library) and not _leads_through(stack, own):
        line = own  # PyTorch leaves out lines of resume functions.
    if line is not None and inside is not None and not is_users(line.file, library):
        line = None  # No line of the user's program is known.
    return Break(reason, explanation, hints, line, parts["link"], inside, parts["then"])


def _inside(stack: list[Line], named: Line | None, library: str) -> Line | None:
    """Returns the innermost line if it is PyTorch's own; None if it is the user's."""
    innermost = stack[-1] if stack else named
    return innermost if innermost is not None and innermost.file.startswith(library) else None


def _leads_through(stack: list[Line], own: Line) -> bool:
    return any(line.file == own.file and line.function in (own.function, "") for line in stack)


def _line(stack: list[Line], named: Line | None, library: str) -> Line | None:
    """Returns the user's line: the innermost line of the traceback that is not torch's, or else the place that the
    report names."""
    innermost = users(stack, library)
    if named is None:
        return innermost
    if innermost is None or (
        not named.file.startswith(library) and (innermost.file, innermost.line) != (named.file, named.line)
    ):
        return named
    return innermost
