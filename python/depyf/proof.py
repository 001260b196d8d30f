"""Proves that code objects are equivalent."""

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
    """Facts about how code is run and about its globals, which a proof may use in addition to the code itself."""

    hooked: bool = False
    """True if the code runs only under a frame evaluation function, as code that Dynamo generates does. Under a frame
    evaluation function, a call keeps its operands on the value stack until it returns."""
    installed: frozenset[str] = frozenset()
    """The names of globals that are known to exist and to keep their values."""
    outputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Maps the name of each global function that returns a new tuple or list, to which nothing else refers, to names
    for its items."""

    def in_words(self, shorten: Mapping[str, str]) -> list[str]:
        """Returns a sentence for each assumption that is not evident from the code. `shorten` maps names to the shorter
        names that readers see."""
        return [
            f"relies on: {shorten.get(name, name)} returns a new tuple or list of {len(items)}, as its graph does"
            for name, items in sorted(self.outputs.items())
            if items
        ]


NOTHING = Assumptions()


def assumptions_of(code: types.CodeType) -> Assumptions:
    """Returns the facts about the globals of code that Dynamo generated, and about how it runs; `NOTHING` for other
    code."""
    if not installed.is_made(code):
        return NOTHING
    return Assumptions(True, installed.installed_names(code), outputs.outputs(code))


def prove(
    one: types.CodeType, two: types.CodeType, *, lifetimes: bool = True, assumptions: Assumptions | None = None
) -> Proof:
    """Proves that two code objects do the same, and that the second keeps no value alive longer than the first.

        code = depyf.compile_like(depyf.decompile(function), function.__code__)
        print(depyf.prove(function.__code__, code))

    Two code objects do the same if they have the same effects, in the same order, on equal operands. The returned proof
    is true if both code objects do the same, and if the second keeps no value alive longer. If the proof is false,
    `.reason` and `.where` state the first difference, or the part whose equivalence cannot be decided. Names of locals,
    temporaries and the layout of equivalent code may differ.

    `two` keeps a value alive longer if it still holds the value at an effect at which `one` has already dropped it.
    Only effects that can run other code or allocate memory count. Code holds a value in a local, a cell, the value
    stack, or a container that only its frame can reach. The operands of a call are not held during the call, because
    they are passed to the callee. `.kept` lists the values that `two` keeps alive longer, and `.same_effects` is true
    if there is no other difference.

    Args:
        one: the code that is to be replaced.
        two: the code that is to replace it.
        lifetimes: if false, values that are kept longer are listed in `.kept`, but the proof can still be true.
        assumptions: facts in addition to the code; None means the result of `assumptions_of` for `one`.

    If both code objects have the same bytecode, names and constants, as for most printed graphs, their instructions are
    not compared one by one; `_core.prove` always compares them.

    Raises:
        TypeError: an argument is not a code object.
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
    """Returns a true proof: the result of comparing a code object without nested code with itself."""
    code = (lambda: None).__code__
    return _core.prove(code, code)
