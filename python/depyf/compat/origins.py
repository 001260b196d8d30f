"""The origins of guards and symbolic sizes: the user's lines, and the places in PyTorch that set them.

PyTorch's guard builder refers to its compilation, which has the guards with their stacks, and to the `ShapeEnv`, which
has the symbolic sizes. A field of `Origins` is empty if PyTorch does not provide the data of the field.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from depyf.compat import private
from depyf.compat.private import guarded
from depyf.session import Symbol
from depyf.source_line import Line, is_users


@dataclass
class Origins:
    """The origins of the guards of one compilation."""

    symbols: list[Symbol] = field(default_factory=list)
    ranges: dict[str, str] = field(default_factory=dict)
    """The ranges of all symbols by their names, including unbacked symbols."""
    _lines: dict[tuple[str, str], Line] = field(default_factory=dict, repr=False)

    def line_of(self, source: str, condition: str) -> Line | None:
        """Returns the user's line that needs a guard, for `depyf.guards.read`; None if the line is unknown."""
        line = self._lines.get((source, condition))
        return line if line is not None else self._lines.get((source, ""))


@functools.cache
def library() -> str:
    """Returns the directory of torch with a separator at its end."""
    import torch

    return str(os.path.dirname(os.path.abspath(torch.__file__))) + os.sep


def read(builder: Any) -> Origins:
    """Returns the lines and symbols of the compilation that a guard builder belongs to."""
    manager = private.of(builder, "torch._dynamo.guards:GuardBuilder.check_fn_manager")
    output = None if manager is None else private.of(manager, "torch._dynamo.guards:CheckFunctionManager.output_graph")
    if output is None:
        return Origins()
    guards = private.of(output, "torch._dynamo.output_graph:OutputGraph.guards", ())
    env = private.of(output, "torch._dynamo.output_graph:OutputGraph.shape_env")
    return Origins(_symbols(env), _ranges(env), _guard_lines(guards))


class _Stacks:
    """Reads the call stacks that PyTorch recorded for the guards of one compilation. Lines that were read are kept,
    because most stacks of guards contain the same lines."""

    def __init__(self) -> None:
        self._is_users: dict[str, bool] = {}
        self._lines: dict[tuple[str, int, str], Line] = {}

    def users_line(self, stack: Iterable[Any] | None) -> Line | None:
        """Returns the innermost line of the user's code in a stack of frame summaries, which ends with the innermost
        frame. If the stack has no line of the user, returns the innermost line of the stack; if the stack is empty,
        returns None."""
        frames = list(stack or ())
        if not frames:
            return None
        frame = frames[-1]
        for summary in reversed(frames):
            file = summary.filename
            if file not in self._is_users:
                self._is_users[file] = is_users(file, library())
            if self._is_users[file]:
                frame = summary
                break
        place = frame.filename, frame.lineno or 0, frame.name or ""
        line = self._lines.get(place)
        if line is None:
            # The text of a line is read from its file, so each line is read only once.
            file, number, function = place
            line = self._lines[place] = Line(file, number, (frame.line or "").strip(), function)
        return line


@guarded(dict)
def _guard_lines(guards: Iterable[Any]) -> dict[tuple[str, str], Line]:
    lines: dict[tuple[str, str], Line] = {}
    stacks = _Stacks()
    for guard in guards:
        line = stacks.users_line(getattr(guard, "user_stack", None))
        if line is not None:
            name = guard.name
            for code in getattr(guard, "code_list", None) or ():
                lines.setdefault((name, code.strip()), line)
            lines.setdefault((name, ""), line)
    return lines


@guarded(dict)
def _ranges(env: Any) -> dict[str, str]:
    ranges = getattr(env, "var_to_range", None) or {}
    return {str(symbol): f"[{reach.lower}, {reach.upper}]" for symbol, reach in ranges.items()}


@guarded(list)
def _symbols(env: Any) -> list[Symbol]:
    symbols = []
    sources = dict(getattr(env, "var_to_sources", None) or {})
    ranges = getattr(env, "var_to_range", None) or {}
    places = getattr(env, "var_to_range_sloc", None) or {}
    hints = getattr(env, "backed_var_to_val", None)
    if hints is None:
        hints = getattr(env, "var_to_val", None) or {}
    replaced = getattr(env, "replacements", None) or {}
    for symbol, names in sources.items():
        reach, place = ranges.get(symbol), places.get(symbol)
        value = replaced.get(symbol)
        symbols.append(
            Symbol(
                str(symbol),
                list(
                    str(name() if callable(name := getattr(name_source, "name", name_source)) else name)
                    for name_source in names
                ),
                str(hints.get(symbol, "")),
                f"[{reach.lower}, {reach.upper}]" if reach is not None else "",
                str(getattr(place, "lower", None) or ""),
                str(getattr(place, "upper", None) or ""),
                "" if value is None else str(value),
            )
        )
    return symbols
