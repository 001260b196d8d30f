"""What a reader has to know of a compilation that came to nothing: why, and what runs in its place."""

from __future__ import annotations

from depyf.dump.reasons import deciding_reason
from depyf.markdown import code
from depyf.session import Break, Exceeded, Frame

UNFINISHED = "The block ended before this compilation did."
DIED = "The process died before this compilation ended."
# Exceptions of Dynamo's that are graph breaks; what else has a hint is an error of the program's.
_BREAKS = ("Unsupported", "UserError", "SkipFrame")
# Of an error's lines so many are shown, the last ones among them: compilers quote whole files.
_FIRST_LINES = 12
_LAST_LINES = 28


def headline(frame: Frame, title: str = "") -> str:
    """Returns one sentence on a frame that was not compiled: its function, what runs, and the cause.

    Args:
        title: what the function is called; its own title if not given.
    """
    title = title or frame.title
    if frame.exceeded is not None:
        return _limit(frame, title, frame.exceeded)
    if frame.stopped_by is not None:
        at = " at" if frame.stopped_by.where else ":"
        kind = (frame.error or "").partition(":")[0]
        what = "a graph break" if kind in _BREAKS else kind
        cause = f"of {what}{at} {_without_then(frame.stopped_by)}"
        if frame.raised:
            return f"{title} was not compiled, and its call raised an error, because {cause}"
        then = f" {frame.stopped_by.then}" if frame.stopped_by.then else ""
        return f"{title} runs eagerly, because {cause}{then}"
    lines = _error_lines(frame)
    if frame.error in (UNFINISHED, DIED):
        return f"{title} was not compiled: {lines[0]}"
    if lines:
        what = "was not compiled, and its call raised an error" if frame.raised else "runs eagerly, because of an error"
        return f"{title} {what}: {lines[0]}"
    if frame.breaks:
        return f"{title} runs eagerly, because of a graph break: {frame.breaks[-1]}"
    if frame.notes:
        return f"{title} was not compiled."
    return f"{title} runs eagerly: Dynamo found nothing in it that belongs into a graph."


def details(frame: Frame) -> list[str]:
    """Returns the lines that follow `headline`: the rest of an error, what used a limit up, hints."""
    if frame.exceeded is not None:
        return _used_up(frame, frame.exceeded)
    if frame.stopped_by is not None:
        only = [] if frame.raised else ["This function alone: those that it calls are still compiled on their own."]
        return [*hints(frame.stopped_by), *only]
    return _error_lines(frame)[1:]


def hints(at: Break) -> list[str]:
    """Returns what a reader can do about a graph break, a line each, with its own line of source first."""
    out = []
    if at.inside is not None and at.inside.text:
        out.append(f"The line of PyTorch's own: {code(at.inside.text)}")
    elif at.line is not None and at.line.text:
        out.append(f"The line: {code(at.line.text)}")
    out += at.hints
    out += [f"More: {at.link}"] if at.link else []
    return out


def _without_then(at: Break) -> str:
    text = str(at)
    return text.removesuffix(f" {at.then}") if at.then else text


def _error_lines(frame: Frame) -> list[str]:
    """Returns the lines of the error that are not blank, without those in the middle of a long one."""
    lines = [line.rstrip() for line in (frame.error or "").splitlines() if line.strip()]
    left_out = len(lines) - _FIRST_LINES - _LAST_LINES
    if left_out <= 1:
        return lines
    return [*lines[:_FIRST_LINES], f"... ({left_out} more lines, which session.json has)", *lines[-_LAST_LINES:]]


def _limit(frame: Frame, title: str, exceeded: Exceeded) -> str:
    value = "" if exceeded.value is None else f" ({exceeded.value})"
    reached = f"{title} has reached torch._dynamo.config.{exceeded.limit}{value}"
    if frame.raised:
        return f"{reached}, and the call that needed one compilation more raised an error."
    ids = ", ".join(exceeded.compile_ids)
    if not exceeded.still_used or not ids:
        return f"{reached}: from now on it runs eagerly."
    return (
        f"{reached}: from now on every call runs eagerly, with all that it calls, unless one of the compilations that are "
        f"there accepts it ({ids})."
    )


def _used_up(frame: Frame, exceeded: Exceeded) -> list[str]:
    lines = ["What used up the limit:"]
    for compile_id, reason in zip(exceeded.compile_ids, exceeded.reasons, strict=False):
        lines.append(f"  {compile_id}: {reason or 'compiled before this was recorded'}")
    if exceeded.still_used and exceeded.accepted:
        lines += ["Calls that still run compiled have:", *(f"  {line}" for line in exceeded.accepted)]
    if frame.failures:
        lines.append(f"The call that was too many: {deciding_reason(frame.failures)}")
    elif frame.recompile_reasons:
        lines.append(f"The call that was too many: {frame.recompile_reasons[0].partition(chr(10))[0]}")
    return lines
