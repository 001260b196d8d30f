"""Determines the function that a compilation belongs to, and why a compilation failed."""

from __future__ import annotations

import linecache
import re
import types
from collections.abc import Iterable

from depyf import dump, function_names
from depyf.compat import at_work, cache, callables, dynamo, installed, origins
from depyf.guards import breaks, frontier
from depyf.session import CacheMiss, Exceeded, Frame
from depyf.source_line import Line

EXPORT = (
    "torch.export.export({what}){place} is out of scope: depyf shows what torch.compile makes, and an exported program is no "
    "compiled function. `print(exported)` shows its graph as Python."
)
AHEAD = (
    "Dynamo captured this graph ahead of time, without a call (`aot_compile`, `torch.export`). What runs of it is no entry of "
    "Dynamo's cache, and not shown."
)
COMPILED_AHEAD = (
    "Compiled ahead of time, by `aot_compile`. It is no entry of Dynamo's cache: its guards are checked at each call, and a call "
    "that they refuse raises."
)
LOADED_AHEAD = (
    "{what} was loaded from a file of `aot_compile`: its guards are checked at each call, and a call that they refuse raises. "
    "`depyf open FILE` shows all that is in the file."
)
PRECOMPILED = (
    "Captured by `torch.compiler.precompile`, without Dynamo: there is no transformed code, and no guard. The program that it "
    "writes checks the structure, shapes and types of its arguments itself; `depyf open FILE` shows it."
)
RESTORED = (
    "{what} was restored from Dynamo's cache of an earlier process (`torch._dynamo.config.caching_precompile`): what it was "
    "compiled to is tried before anything is compiled."
)
NOT_LOADED = "A file of `aot_compile` could not be loaded: the error went to the caller"
_LIMIT = re.compile(r"\b(?:accumulated_)?(?:recompile|cache_size)_limit\b")
_VALUE = re.compile(r"currently set to (\d+)")


_SHOWN_DIFFERENCES = 10


def miss_in_words(miss: CacheMiss) -> str:
    """Returns a sentence about a key that was missing in a compiler's cache. The sentence lists the differences from
    the most similar key in the cache only if this key is for the same graph, because a graph that was never compiled
    cannot be in a cache."""
    sentence = f"{miss.cache}'s cache had no entry with its key, whose parts are in {miss.file}."
    if not miss.is_of_same_graph:
        return f"{sentence} `depyf open {miss.file} OTHER` compares them with those of an entry, or of another run."
    first, *rest = miss.differences
    left = len(rest) - _SHOWN_DIFFERENCES
    more = [f"and {left} more"] if left > 0 else []
    return f"{sentence} The {first} {'; '.join([*rest[:_SHOWN_DIFFERENCES], *more])}"


def describe(frame: Frame, code: types.CodeType, call: at_work.Call | None = None) -> None:
    """Sets those fields of a `Frame` that describe the function that was compiled.

    Args:
        frame: the frame whose fields are set.
        code: the code of the function, or of the resume function.
        call: the call that is being compiled; None if the call is unknown.
    """
    frame.function, frame.filename, frame.line = code.co_name, code.co_filename, code.co_firstlineno
    frame.is_resume = installed.is_resume_code(code)
    if call is not None:
        frame.name = function_names.of_call(
            code, call.local, call.scope, is_of_pytorch=callables.is_of_dynamo(call.scope)
        )
        frame.notes = [AHEAD] if call.is_ahead else []
    elif not frame.name:
        frame.name = function_names.of_code(code)


def place_of(frame: Frame) -> Line:
    """Returns the first line of a function, or the line at which a resume function continues."""
    text = linecache.getline(frame.filename, frame.line).strip()
    return Line(frame.filename, frame.line, text, function_names.base_name(frame.function))


def goes_on_with(resumed: Frame, beginning: Frame) -> bool:
    """True if a resume function continues the function of the compilation `beginning` itself, and not a function that
    was inlined into that function."""
    names = [function_names.base_name(frame.function) for frame in (resumed, beginning)]
    return resumed.filename == beginning.filename and names[0] == names[1]


def add_failure(frame: Frame, code: types.CodeType | None, same: Iterable[Frame], translate: breaks.Translate) -> None:
    """Adds PyTorch's report of a failed compilation to the frame of the compilation. This function must be called while
    PyTorch reports the failure.

    Args:
        frame: the frame of the compilation, which already has the error and the guards that failed before the
            compilation.
        code: the code of the function that was compiled.
        same: the frames of all compilations of the same function in the block.
        translate: returns the user's line that a line of a dumped file was generated from.
    """
    frame.status = "not compiled"  # also if transformed code was generated before a later step failed
    ending = at_work.ending()
    message = frame.error or ""
    if ending is not None:
        frame.raised = ending.goes_to_caller
        message = f"{message}\n{ending.message}"
    limit = _LIMIT.search(message) if _is_about_limit(message) else None
    if limit is not None:
        value = _VALUE.search(message)
        frame.exceeded = _exceeded(limit[0], int(value[1]) if value else None, code, list(same))
    elif breaks.is_break(frame.error or ""):
        if frame.breaks:
            frame.stopped_by = frame.breaks[-1]
        else:
            text = (frame.error or "").partition(": ")[2]
            stack = () if ending is None else ending.stack
            frame.stopped_by = breaks.of_error(text, stack, origins.library(), place_of(frame), translate)


def _is_about_limit(message: str) -> bool:
    return any(words in message for words in ("limit exceeded", "limit reached", "RecompileLimit", "CacheLimit"))


def _exceeded(limit: str, value: int | None, code: types.CodeType | None, same: list[Frame]) -> Exceeded:
    ids = [entry.compile_id for entry in dynamo.live_entries(code) if entry.compile_id] if code is not None else []
    compiled = {frame.compile_id: frame for frame in same if frame.status == "compiled"}
    ids = sorted(dict.fromkeys(ids or compiled), key=_order)
    reasons = [_reason(compiled[number]) if number in compiled else "" for number in ids]
    frontiers = [compiled[number].frontier for number in ids if number in compiled]
    accepted = frontier.together(frontiers) if len(frontiers) == len(ids) else []
    differing = [line for line in accepted if " or " in line.partition("  # ")[0]]
    return Exceeded(limit, value, ids, reasons, differing, cache.keeps_entries_at_limit())


def _order(compile_id: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", compile_id))


def _reason(frame: Frame) -> str:
    if frame.failures:
        return dump.deciding_reason(frame.failures)
    if frame.recompile_reasons:
        return frame.recompile_reasons[0].partition("\n")[0]
    return "the first call"
