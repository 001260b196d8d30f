"""Finds the source that is shown for a code object, and the line of each instruction in this source."""

from __future__ import annotations

import bisect
import linecache
import types
from dataclasses import dataclass, field

from depyf import _core, running, weak
from depyf.recompile import compile_like

__all__ = ["Source", "source_of"]

_known: weak.Table[Source] = weak.Table()
"""The source of each code object, computed once. An item is removed when its code object is freed, and nothing else
clears `_known`. `_known` has no lock, because threads may write the same value at once; a forked child continues with
its copy."""


@dataclass
class Source:
    """A source text with the line of each instruction."""

    lines: list[str]
    file: str | None
    """The file that contains the lines; None for decompiled source."""
    exact: bool
    """True if the lines come from a line table; false if the line of an instruction is that of the last statement that
    begins before the instruction."""
    _offsets: list[int] = field(default_factory=list)
    _numbers: list[int | None] = field(default_factory=list)

    def line(self, offset: int) -> int | None:
        """Returns the line, counted from 1, of the instruction at `offset` (in bytes); None if the instruction has no
        line."""
        index = bisect.bisect_right(self._offsets, offset) - 1
        return self._numbers[index] if index >= 0 else None


def source_of(code: types.CodeType) -> Source:
    """Returns the source of a code object: the dumped file that it was compiled from, or else its decompiled source."""
    source = _known.get(code)
    if source is None:
        source = _make(code)
        _known.set(code, source)
    return source


def _make(code: types.CodeType) -> Source:
    if code.co_filename in running.known:
        return _own(code)
    decompiled = _core.decompile(code, short_names=True)
    lines = decompiled.source.splitlines()
    try:
        again = compile_like(decompiled.source, code)
    except (SyntaxError, ValueError):
        again = None
    # If the recompiled code `again` has the same instructions as `code` at the same offsets, the line table of `again`
    # is valid for `code`.
    if again is not None and again.co_code[::2] == code.co_code[::2]:
        return Source(lines, None, True, *_line_table(again))
    if not decompiled.lines:  # The source is a stub, which has no line for any instruction.
        return _own(code)
    pairs = sorted((offset, line) for line, offset in decompiled.lines)
    return Source(lines, None, False, [offset for offset, _ in pairs], [line for _, line in pairs])


def _own(code: types.CodeType) -> Source:
    """Returns the file that a code object was compiled from, with the lines of its own line table."""
    lines = [line.rstrip("\n") for line in linecache.getlines(code.co_filename)]
    return Source(lines, code.co_filename, True, *_line_table(code))


def _line_table(code: types.CodeType) -> tuple[list[int], list[int | None]]:
    rows = list(code.co_lines())
    # The instructions that set up the frame belong to the line of the `def` itself.
    return [start for start, _, _ in rows], [line for _, _, line in rows]
