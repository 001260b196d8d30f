"""Records the conditions that later calls must meet so that the guards of a compilation accept them."""

from __future__ import annotations

from dataclasses import replace

from depyf import _core
from depyf.capture import memory
from depyf.capture.compilation import Compilation
from depyf.capture.guarding import Guarded
from depyf.session import Symbol


def record(compilation: Compilation, guarded: Guarded) -> None:
    """Adds data about the guards to a compilation: the frontier (the limits within which a call uses the compilation
    again), symbolic sizes, and the ranges of runtime values."""
    compilation.guarded = guarded
    transformed = compilation.transformed()
    seen = None if transformed is None else memory.of(transformed)
    if seen is not None:
        seen.line_of = guarded.origins.line_of
    frame = compilation.frame
    frame.frontier = guarded.frontier
    frame.symbols = [_in_terms(_with_reason(symbol, compilation.specialized)) for symbol in guarded.symbols]
    ranges = guarded.origins.ranges
    frame.runtime_values = [replace(value, range=ranges.get(value.name, value.range)) for value in frame.runtime_values]


def _with_reason(symbol: Symbol, specialized: list[Symbol]) -> Symbol:
    """Returns a symbol; if the symbol was specialised to a constant, the constant and the reason are added."""
    for constant in specialized:
        if constant.name == symbol.name:
            return replace(symbol, value=constant.value, specialized_by=constant.specialized_by, reason=constant.reason)
    return symbol


def _in_terms(symbol: Symbol) -> Symbol:
    """Returns a symbol with its sources in the user's terms, such as `x.shape[0]` for `L['x'].size()[0]`."""
    return replace(symbol, terms=[_core.in_terms(source) for source in symbol.sources])
