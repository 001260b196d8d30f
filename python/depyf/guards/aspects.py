"""An aspect in which a call differs from the call that a compilation was made for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from depyf.guards.model import Guard
from depyf.session import Failure

Aspect = Literal[
    "state", "class", "identity", "presence", "keys", "length", "value", "relation", "sizes",
    "dtype", "device", "requires_grad", "dispatch", "shape", "stride", "marks",
]  # fmt: skip
"""The property of a value that differs. "presence" is whether it is None, "keys" the keys of a dict, "relation" how
several values relate to each other, "sizes" a condition on symbolic sizes, "dispatch" PyTorch's dispatch keys of a
tensor."""


@dataclass(frozen=True)
class Difference:
    """An aspect in which a call differs from the call that a compilation was made for."""

    aspect: Aspect
    failure: Failure
    guard: Guard
    keys: frozenset[str] = frozenset()
    """For a difference in dispatch keys: the keys that only one of the expected and the actual tensor has. For a
    difference in torch function modes: the names of the active modes."""
    sources: tuple[str, ...] = ()
    """Dynamo's names for the values concerned; empty if the difference is about the state of the process."""
    is_missing: bool = False
    """True if the value cannot be read."""
