"""Equivalence of code objects."""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from dataclasses import dataclass, field

from depyf import _core
from depyf._core import Proof
from depyf.compat import installed, outputs

__all__ = ["NOTHING", "Assumptions", "Proof", "assumptions_of", "prove"]


@dataclass(frozen=True)
class Assumptions:
    """Facts about the place where code runs, beside the code itself."""

    hooked: bool = False
    """The code runs only under a frame evaluation function, as what Dynamo makes does. Calls then keep their operands on
    the value stack until they return."""
    installed: frozenset[str] = frozenset()
    """Names of globals that are known to be there and to keep their value."""
    outputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of those: functions that return a new tuple or list which nobody else has -> what its items may be called."""

    def in_words(self, shorten: Mapping[str, str]) -> list[str]:
        """Returns what the proof relies on that the code does not show, in sentences; `shorten` gives names to show."""
        return [
            f"relies on: {shorten.get(name, name)} returns a new tuple or list of {len(items)}, as its graph does"
            for name, items in sorted(self.outputs.items())
            if items
        ]


NOTHING = Assumptions()


def assumptions_of(code: types.CodeType) -> Assumptions:
    """Returns the facts about the globals of code that Dynamo generated, and about how it runs; no facts for other
    code."""
    if not installed.is_made(code):
        return NOTHING
    return Assumptions(True, installed.installed_names(code), outputs.outputs(code))


def prove(
    one: types.CodeType, two: types.CodeType, *, lifetimes: bool = True, assumptions: Assumptions | None = None
) -> Proof:
    """Proves that two code objects do the same, and that the second keeps no value alive longer than the first.

    The same means: the same effects, in the same order, on equal operands. The proof is true where both hold. Elsewhere
    `.reason` and `.where` say what differs first; what cannot be decided is not proved. Names of locals, temporaries and
    the layout of the code may differ. At each effect that can run other code or allocate memory, `two` may hold no value
    (in a local, a cell, the value stack or a container that only its frame has) that `one` holds no longer; a call holds
    its operands no longer, as it hands them to what it calls. `.kept` lists the values that are kept, and
    `.same_effects` is true where these alone are what is wrong.

    Args:
        one: the code that is to be replaced.
        two: the code that is to replace it.
        lifetimes: False: values that are kept longer are listed in `.kept`, and the proof is true all the same.
        assumptions: what is known beside the code; None: what `assumptions_of` tells of `one`.

    Code with the same bytecode, names and constants is not walked: most graphs are printed as PyTorch compiled them.
    `_core.prove` walks any code.

    Raises:
        TypeError: one of them is no code object.
    """
    if isinstance(one, types.CodeType) and isinstance(two, types.CodeType) and _core.same_code(one, two):
        return _same()
    if assumptions is None:
        assumptions = assumptions_of(one) if isinstance(one, types.CodeType) else NOTHING
    return _core.prove(
        one,
        two,
        lifetimes=lifetimes,
        calls_keep_operands=assumptions.hooked,
        installed=set(assumptions.installed),
        outputs={name: len(items) for name, items in assumptions.outputs.items()},
    )


@functools.cache
def _same() -> Proof:
    """Returns the proof of two code objects that are the same and hold no other code."""
    code = (lambda: None).__code__
    return _core.prove(code, code)
