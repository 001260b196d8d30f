"""Parses PyTorch's report of a graph break."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from depyf import _core
from depyf.session import Break
from depyf.source_line import Line, is_users, users

# The first words of PyTorch's hints that ask the user to change the call at which the graph ends. Hints to change a
# call in PyTorch's own code are dropped.
_ON_THE_CALL = ("Remove the ", "Avoid calling ", "Move the ", "Replace ", "Don't mutate ")
# A hint that contains `torch.compiler.disable` asks the user to remove this decorator from the called function. The
# user may have written the decorator, so the hint is kept.
_ON_A_DECORATOR = "torch.compiler.disable"
_ASKED_FOR = "PyTorch's own code requests this graph break, so the program has no call that could be removed"
_OWN_LINE = "The line is PyTorch's own"
# Files and names of those functions of PyTorch that only forward a call to another function. Dynamo can compile the
# functions of `_PASSES_ON`. If the innermost line of a graph break's stack lies in a function of `_PASSES_ON`, the line
# is removed, because the graph break comes from the function to which the call is forwarded.
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
        report: the text of PyTorch's report.
        library: the directory of torch with a separator at its end; lines in this directory are not the user's.
        own: the first line of the compiled function; for a resume function, the line at which it continues the user's
            function.
        translate: returns the user's line that a line of a dumped file was generated from; None if no user's line is
            known.
    """
    parts = _core.graph_break(report)
    named = Line(*parts["place"]) if parts["place"][0] else None
    return _located(parts, [Line(*place) for place in parts["stack"]], named, library, own, translate)


def of_error(
    message: str, stack: Iterable[Line], library: str, own: Line | None = None, translate: Translate | None = None
) -> Break:
    """Returns the graph break that is described by an exception of Dynamo.

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
    """Returns the innermost line of a graph break if the line is in PyTorch's own code; None if the line is the user's
    or is unknown."""
    innermost = stack[-1] if stack else named
    return innermost if innermost is not None and innermost.file.startswith(library) else None


def _leads_through(stack: list[Line], own: Line) -> bool:
    return any(line.file == own.file and line.function in (own.function, "") for line in stack)


def _line(stack: list[Line], named: Line | None, library: str) -> Line | None:
    """Returns the line of a graph break; None if no line is known. `named` is the place that PyTorch's report names. If
    `named` is in the user's code, it is the result. If the report names no place, or a place in torch's own code, the
    result is the innermost line of the traceback outside of torch. If all lines of the traceback are in torch, the
    result is `named`."""
    innermost = users(stack, library)
    if named is None:
        return innermost
    if innermost is None or (
        not named.file.startswith(library) and (innermost.file, innermost.line) != (named.file, named.line)
    ):
        return named
    return innermost
