"""Data classes for the aspects (such as dtype or shape) in which a call differs from the call for which a function was
compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from depyf.guards.model import Guard
from depyf.session import Failure

Aspect = Literal[
    "state", "class", "identity", "presence", "keys", "length", "value", "relation", "sizes",
    "dtype", "device", "requires_grad", "dispatch", "shape", "stride", "marks",
]  # fmt: skip
"""The property in which a value differs from the expected value. The aspect "presence" concerns whether a value exists
and whether it is None. The aspect "keys" concerns the keys of a dict, and "relation" concerns how several values relate
to each other. The aspect "sizes" concerns a condition on symbolic sizes, and "dispatch" concerns PyTorch's dispatch
keys of a tensor."""


@dataclass(frozen=True)
class Difference:
    """A difference, in one aspect, between a call and the call for which a function was compiled."""

    aspect: Aspect
    failure: Failure
    guard: Guard
    keys: frozenset[str] = frozenset()
    """If the difference is in dispatch keys: the keys that only the expected or only the actual tensor has. If the
    difference is in torch function modes: the names of the active modes. Otherwise empty."""
    sources: tuple[str, ...] = ()
    """Dynamo's names for the values that differ; empty if the difference is in the state of the process."""
    is_missing: bool = False
    """True if the value that the guard checks cannot be read."""
