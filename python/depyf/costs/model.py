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
    """True if the call passes the entry and takes one that is tried later."""
    microseconds: float
    """The microseconds of one check of the entry's guards, up to the first guard that fails."""
    groups: list[GroupCost] = field(default_factory=list)
    """The parts of a check that accepts the call, the most expensive first; empty for an entry that refuses it."""
    pregraph_microseconds: float | None = None
    """The microseconds of the transformed code until it calls its first graph; None if that was not measured."""
    why_no_pregraph: str = ""
    redundant: list[Redundant] = field(default_factory=list)
    """The guards that others imply. PyTorch checks them all the same."""


@dataclass
class GuardCosts:
    """The costs of looking up a call in Dynamo's cache. `str` returns a text for readers."""

    function: str
    entries: list[EntryCost] = field(default_factory=list)
    """The entries in the order in which Dynamo tries them now. An entry that is used is tried first the next time."""
    passed: int = 0
    """The number of entries that refuse the call before its own."""
    lookup_microseconds: float = 0.0
    """The microseconds of all checks up to the entry of the call, in the order of the entries."""

    def __str__(self) -> str:
        return _core.guard_costs_text(_core.json_text(self, levels=0))

    def to_dict(self) -> dict[str, Any]:
        """Returns the costs as JSON data: the fields of this class by name."""
        return dataclasses.asdict(self)

    def to_json(self, indent: int | None = None) -> str:
        """Returns `to_dict` as a JSON text."""
        return json.dumps(self.to_dict(), indent=indent)
