"""Data classes for the costs of checking the guards of a function."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

from depyf import _core
from depyf.guards import Redundant
from depyf.session import GroupCost


@dataclass
class EntryCost:
    """The costs of checking the guards of one cache entry on the inputs of a call."""

    compile_id: str
    accepts: bool
    """True if the guards of the cache entry accept the call."""
    is_passed: bool
    """True if this entry refuses the call, and no entry that Dynamo tries earlier accepts the call."""
    microseconds: float
    """The microseconds of one check of the entry's guards, up to the first guard that fails."""
    groups: list[GroupCost] = field(default_factory=list)
    """The costs of groups of guards, the most expensive group first, if the entry accepts the call; empty if the entry
    refuses the call."""
    pregraph_microseconds: float | None = None
    """The microseconds that the transformed code takes until it calls its first graph; None if this time was not
    measured."""
    why_no_pregraph: str = ""
    redundant: list[Redundant] = field(default_factory=list)
    """The guards that PyTorch checks although other guards imply them."""


@dataclass
class GuardCosts:
    """The costs of looking up the compilation for a call in Dynamo's cache; `str(costs)` returns the costs as a text
    for readers."""

    function: str
    entries: list[EntryCost] = field(default_factory=list)
    """The cache entries in the order in which Dynamo tries them for the call. Dynamo moves an entry that accepts a call
    to the front of the cache."""
    passed: int = 0
    """The number of entries that refuse the call before an entry accepts it; the number of all entries if no entry
    accepts the call."""
    lookup_microseconds: float = 0.0
    """The microseconds of the guard checks of all entries up to the entry that accepts the call."""

    def __str__(self) -> str:
        return _core.guard_costs_text(_core.json_text(self, levels=0))

    def to_dict(self) -> dict[str, Any]:
        """Returns the costs as JSON data: the fields of this class by name."""
        return dataclasses.asdict(self)

    def to_json(self, indent: int | None = None) -> str:
        """Returns the data of `to_dict` as a JSON text."""
        return json.dumps(self.to_dict(), indent=indent)
