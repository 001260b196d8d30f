"""Graph breaks, from PyTorch's report of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from depyf import _core
from depyf.session import Break
from depyf.source_line import Line, is_users, users

# Hints on the call at which the graph ends, which is not the user's where the break is in PyTorch's own code.
_ON_THE_CALL = ("Remove the ", "Avoid calling ", "Move the ", "Replace ", "Don't mutate ")
# These are about a decorator where the function is defined, which may well be the user's.
_ON_A_DECORATOR = "torch.compiler.disable"
_ASKED_FOR = "PyTorch's own code asks for a graph break here: there is no such call in the program to take away"
_OWN_LINE = "The line is PyTorch's own"
# Functions of PyTorch that only pass a call on: the function that cannot be compiled is the one that they call.
_PASSES_ON = {
    ("nn/modules/module.py", "_call_impl"),
    ("nn/modules/module.py", "_wrapped_call_impl"),
    ("_dynamo/external_utils.py", "inner"),
    ("utils/_contextlib.py", "decorate_context"),
}

Translate = Callable[[Line], Line | None]


def read(report: str, library: str, own: Line | None = None, translate: Translate | None = None) -> Break:
    """Returns a graph break's report, taken apart.

    Args:
        report: PyTorch's text.
        library: the folder of torch, with the separator at its end: no line of it is the user's.
        own: where the function that is compiled begins, or the resume function goes on.
        translate: gives the user's line that a line of a dumped file stands for; None if it stands for none.
    """
    parts = _core.graph_break(report)
    named = Line(*parts["place"]) if parts["place"][0] else None
    return _located(parts, [Line(*place) for place in parts["stack"]], named, library, own, translate)


def of_error(
    message: str, stack: Iterable[Line], library: str, own: Line | None = None, translate: Translate | None = None
) -> Break:
    """Returns the graph break that an exception of Dynamo's reports.

    Args:
        message: of the exception.
        stack: the lines that were being compiled, the innermost last.
    """
    return _located(_core.graph_break(message), list(stack), None, library, own, translate)


def is_break(message: str) -> bool:
    """True if an exception's message reports a graph break as PyTorch words one."""
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
        line = own  # PyTorch leaves lines of resume functions out
    if line is not None and inside is not None and not is_users(line.file, library):
        line = None  # no line of the user's is known
    return Break(reason, explanation, hints, line, parts["link"], inside, parts["then"])


def _inside(stack: list[Line], named: Line | None, library: str) -> Line | None:
    """Returns the innermost line, where that is PyTorch's own; None where it is the user's."""
    innermost = stack[-1] if stack else named
    return innermost if innermost is not None and innermost.file.startswith(library) else None


def _leads_through(stack: list[Line], own: Line) -> bool:
    return any(line.file == own.file and line.function in (own.function, "") for line in stack)


def _line(stack: list[Line], named: Line | None, library: str) -> Line | None:
    """Returns the user's line: the innermost one of the traceback that is not torch's, else the place that is named."""
    innermost = users(stack, library)
    if named is None:
        return innermost
    if innermost is None or (
        not named.file.startswith(library) and (innermost.file, innermost.line) != (named.file, named.line)
    ):
        return named
    return innermost
