"""The costs of the guards of a function, as plain data."""

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
    """The costs of the guards of one cache entry for a call."""

    compile_id: str
    accepts: bool
    """True if the guards accept the call."""
    is_passed: bool
    """True if the entry refuses the call, and no entry that is tried before it accepts the call."""
    microseconds: float
    """The microseconds of one check of the entry's guards, up to the first guard that fails."""
    groups: list[GroupCost] = field(default_factory=list)
    """The groups of guards of a check that accepts the call, the most expensive first; empty if the entry refuses the
    call."""
    pregraph_microseconds: float | None = None
    """The microseconds of the transformed code until it calls its first graph; None if the time was not measured."""
    why_no_pregraph: str = ""
    redundant: list[Redundant] = field(default_factory=list)
    """The guards that PyTorch checks although other guards imply them."""


@dataclass
class GuardCosts:
    """The costs of looking up a call in Dynamo's cache; `str(costs)` returns them as a text for readers."""

    function: str
    entries: list[EntryCost] = field(default_factory=list)
    """The cache entries in the order in which Dynamo tries them for the call. Dynamo moves an entry that accepts a call
    to the front of this order."""
    passed: int = 0
    """The number of entries that refuse the call before an entry accepts it; all entries if none accepts it."""
    lookup_microseconds: float = 0.0
    """The microseconds of the guard checks of all entries up to the entry that accepts the call."""

    def __str__(self) -> str:
        return _core.guard_costs_text(_core.json_text(self, levels=0))

    def to_dict(self) -> dict[str, Any]:
        """Returns the costs as JSON data: the fields of this class by name."""
        return dataclasses.asdict(self)

    def to_json(self, indent: int | None = None) -> str:
        """Returns `to_dict` as a JSON text."""
        return json.dumps(self.to_dict(), indent=indent)
