"""One aspect in which a call differs from the call that a compilation was made for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from depyf.guards.model import Guard
from depyf.session import Failure

Aspect = Literal[
    "state", "class", "identity", "presence", "keys", "length", "value", "relation", "sizes",
    "dtype", "device", "requires_grad", "dispatch", "shape", "stride", "marks",
]  # fmt: skip
"""What of a value differs. "presence" is being None or not, "keys" those of a dict, "relation" how several values stand to each
other, "sizes" a condition on sizes that a graph leaves open, "dispatch" PyTorch's dispatch keys of a tensor."""


@dataclass(frozen=True)
class Difference:
    """One aspect in which a call differs from what a compilation was made for."""

    aspect: Aspect
    failure: Failure
    guard: Guard
    keys: frozenset[str] = frozenset()
    """Of dispatch keys: those that only one of both has. Of modes: the names of those at work."""
    sources: tuple[str, ...] = ()
    """Dynamo's names for the values that it is about; none if it is about the state of the process."""
    is_missing: bool = False
    """True if the value cannot be read."""
