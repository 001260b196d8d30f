"""Equivalence of code objects."""

from __future__ import annotations

import types

from depyf import _core
from depyf._core import Proof

__all__ = ["Proof", "prove"]


def prove(one: types.CodeType, two: types.CodeType) -> Proof:
    """Proves that two code objects do the same: the same effects, in the same order, on equal operands.

    The proof is true where they do. Elsewhere `.reason` and `.where` say what differs first; what cannot be decided is
    not proved. Only what running code can see counts: locals, temporaries and the layout of the code may differ.

    Raises:
        TypeError: one of them is no code object.
    """
    return _core.prove(one, two)
