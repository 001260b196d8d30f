"""Graph breaks, from PyTorch's report of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from depyf.session import Break
from depyf.source_line import Line, is_users, users

_PLACE = re.compile(r"^Graph break (?:in user code )?(?:at|from user code at:?) (?P<file>.+):(?P<line>\d+)$")
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)$')
_LINK = re.compile(r"https?://\S+")
# Objects by their address, which differs in every run: the name says all.
_OBJECT = re.compile(
    r"<(?:function|bound method|built-in function|class) '?([\w.<>]+?)'?(?: of .*?)?(?: at 0x[0-9a-f]+)?>"
)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_SECOND = re.compile(r"^\*{3} While handling this graph break, another graph break occurred: \*{3}$", re.MULTILINE)
_EARLIER = "This graph break may have been caused by an earlier graph break"
# Hints on the call at which the graph ends, which is not the user's where the break is in PyTorch's own code.
_ON_THE_CALL = ("Remove the ", "Avoid calling ", "Move the ", "Replace ", "Don't mutate ")
# These are about a decorator where the function is defined, which may well be the user's.
_ON_A_DECORATOR = "torch.compiler.disable"
_ASKED_FOR = "PyTorch's own code asks for a graph break here: there is no such call in the program to take away"
_OWN_LINE = "The line is PyTorch's own"
# Functions of PyTorch that only pass a call on: what cannot be compiled is what they call.
_PASSES_ON = {
    ("nn/modules/module.py", "_call_impl"),
    ("nn/modules/module.py", "_wrapped_call_impl"),
    ("_dynamo/external_utils.py", "inner"),
    ("utils/_contextlib.py", "decorate_context"),
}

Translate = Callable[[Line], Line | None]


def read(report: str, library: str, own: Line | None = None, translate: Translate | None = None) -> Break:
    """A graph break's report, taken apart.

    Args:
        report: PyTorch's text.
        library: the folder of torch, with the separator at its end: no line of it is the user's.
        own: where the function that is compiled begins, or the resume function goes on.
        translate: gives the user's line that a line of a dumped file stands for; None if it stands for none.
    """
    lines = report.splitlines()
    place = _PLACE.match(lines[0].strip()) if lines else None
    named = None if place is None else Line(place["file"], int(place["line"]))
    return _read(report, list(_stack(lines)), named, library, own, translate)


def of_error(
    message: str, stack: Iterable[Line], library: str, own: Line | None = None, translate: Translate | None = None
) -> Break:
    """The graph break that an exception of Dynamo's reports.

    Args:
        message: of the exception.
        stack: the lines that were being compiled, the innermost last.
    """
    return _read(message, list(stack), None, library, own, translate)


def is_break(message: str) -> bool:
    """True if an exception's message reports a graph break as PyTorch words one."""
    return "\n  Explanation: " in message


def _read(
    report: str, stack: list[Line], named: Line | None, library: str, own: Line | None, translate: Translate | None
) -> Break:
    # Where the break cannot be resumed from, a second one says so; the first is the cause.
    first, *second = _SECOND.split(report.partition("\nUser code traceback:")[0], maxsplit=1)
    reason, explanation, hints = _parts(first)
    then = ""
    if second:
        consequence, why, _ = _parts(second[0])
        then = f"{why or consequence}".rstrip(".") + "."
    link = _LINK.search(first)
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
    return Break(reason, explanation, hints, line, link[0] if link else "", inside, then)


def _parts(report: str) -> tuple[str, str, list[str]]:
    """(Reason, explanation, hints.)"""
    lines = [_OBJECT.sub(r"\1", line) for line in report.splitlines()]
    lines = [_ADDRESS.sub("", line) for line in lines]
    reason, explanation, hints = "", "", []
    for i, line in enumerate(lines):
        text = line.strip()
        if text.startswith("Explanation: ") and not reason:
            explanation = text.removeprefix("Explanation: ")
            before = [one.strip() for one in lines[:i] if one.strip()]
            reason = before[-1].removeprefix("Graph Break Reason: ") if before else ""
        elif text.startswith("Hint: ") and not text.startswith(f"Hint: {_EARLIER}"):
            hints.append(text.removeprefix("Hint: "))
    if not reason:
        rest = [one.strip() for one in lines[1:] if one.strip()]
        reason = rest[0].removeprefix("Graph Break Reason: ") if rest else (lines[0] if lines else "")
    reason = re.sub(r"^[\w.]+\.Unsupported: ", "", reason)
    return reason.rstrip("."), explanation, list(dict.fromkeys(hints))


def _inside(stack: list[Line], named: Line | None, library: str) -> Line | None:
    """The innermost line, where that is PyTorch's own; None where it is the user's."""
    innermost = stack[-1] if stack else named
    return innermost if innermost is not None and innermost.file.startswith(library) else None


def _leads_through(stack: list[Line], own: Line) -> bool:
    return any(line.file == own.file and line.function in (own.function, "") for line in stack)


def _line(stack: list[Line], named: Line | None, library: str) -> Line | None:
    """The user's line: the innermost one of the traceback that is not torch's, else the place that is named."""
    found = users(stack, library)
    if named is None:
        return found
    if found is None or (not named.file.startswith(library) and (found.file, found.line) != (named.file, named.line)):
        return named
    return found


def _stack(lines: Iterable[str]) -> Iterator[Line]:
    listed = list(lines)
    # Lines of this form in front of the user's traceback tell where values come from; the compiler's own stack follows.
    starts = [i for i, line in enumerate(listed) if line.startswith("User code traceback:")]
    listed = listed[starts[0] :] if starts else listed
    ends = [i for i, line in enumerate(listed) if line.startswith("Traceback (most recent call last)")]
    listed = listed[: ends[0]] if ends else listed
    for line, after in zip(listed, [*listed[1:], ""], strict=False):
        frame = _FRAME.match(line)
        if frame is not None:
            yield Line(frame["file"], int(frame["line"]), after.strip(), frame["function"])
