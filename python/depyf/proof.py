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
    """Facts about the way in which code is run and about its globals, which a proof may use in addition to the code
    itself."""

    hooked: bool = False
    """True if the code runs only under a frame evaluation function, as code that Dynamo generates does. Under a frame
    evaluation function, a call keeps its operands on the value stack until it returns."""
    installed: frozenset[str] = frozenset()
    """The names of globals that are known to exist and to keep their values."""
    outputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Maps the name of a global function to names for the items that the function returns, if it returns a new tuple or
    list to which no other code refers."""

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
    """Returns facts about code that Dynamo generated: about its globals, and about how the code runs. Returns `NOTHING`
    for other code."""
    if not installed.is_made(code):
        return NOTHING
    return Assumptions(True, installed.installed_names(code), outputs.outputs(code))


def prove(
    one: types.CodeType, two: types.CodeType, *, lifetimes: bool = True, assumptions: Assumptions | None = None
) -> Proof:
    """Proves that two code objects do the same, and that the second keeps no value alive longer than the first.

    Two code objects do the same if they have the same effects, in the same order, on equal operands. The returned proof
    is true if both code objects do the same, and if the second keeps no value alive longer than the first. If the proof
    is false, `.reason` and `.where` state the first difference, or the part whose equivalence cannot be decided. Code
    objects can be equivalent although they differ in the names of locals, in temporaries and in the layout of the code.

    `two` keeps a value alive longer if it still holds the value at an effect at which `one` has already dropped it.
    Only effects that can run other code or allocate memory are considered in the comparison of life times. Code holds a
    value in a local, a cell, the value stack, or a container that only its frame can reach. The operands of a call do
    not count as held during the call, because they are passed to the callee. `.kept` lists the values that `two` keeps
    alive longer, and `.same_effects` is true if both code objects have the same effects.

    Args:
        one: the code that is to be replaced.
        two: the code that is to replace `one`.
        lifetimes: if false, the proof can be true even if `two` keeps values alive longer than `one`; `.kept` lists
            these values.
        assumptions: facts in addition to the code; None means the result of `assumptions_of` for `one`.

    If both code objects have the same bytecode, names and constants, as for most printed graphs, their instructions are
    not compared one by one; `_core.prove` always compares them.

    Raises:
        TypeError: an argument is not a code object.

    Example:

        code = depyf.compile_like(depyf.decompile(function), function.__code__)
        print(depyf.prove(function.__code__, code))
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
    """Returns a true proof, which is the result of comparing a small code object with itself."""
    code = (lambda: None).__code__
    return _core.prove(code, code)
