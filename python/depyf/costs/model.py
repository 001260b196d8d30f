"""What the guards of a function cost, as plain data."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

from depyf import _core
from depyf.guards import Redundant


@dataclass
class GroupCost:
    """A part of the guards of an entry."""

    source: str
    """Dynamo's name for the value that they look at, `L['self'].layers`; "" for the state of the process."""
    microseconds: float
    values: int
    """The number of values that they look at."""
    guards: int
    """The number of conditions on these values."""


@dataclass
class EntryCost:
    """What the guards of one cache entry cost for a call."""

    compile_id: str
    accepts: bool
    """True if the guards accept the call."""
    is_passed: bool
    """True if the call goes past the entry, to one that is tried later."""
    microseconds: float
    """One check of the entry's guards, up to the first that fails."""
    groups: list[GroupCost] = field(default_factory=list)
    """The parts of a check that accepts, the most expensive first; empty for an entry that refuses the call."""
    pregraph_microseconds: float | None = None
    """What the transformed code takes until it calls its first graph."""
    why_no_pregraph: str = ""
    redundant: list[Redundant] = field(default_factory=list)
    """The guards that others imply. They are checked all the same."""


@dataclass
class GuardCosts:
    """What the lookup of a call in Dynamo's cache costs. `str` of it is a text for readers."""

    function: str
    entries: list[EntryCost] = field(default_factory=list)
    """In the order in which Dynamo tries them now; it tries an entry that was used first the next time."""
    passed: int = 0
    """The number of entries that refuse the call before its own."""
    lookup_microseconds: float = 0.0
    """What all checks up to the call's own entry take, in the order of the entries."""

    def __str__(self) -> str:
        return _core.guard_costs_text(_core.json_text(self, levels=0))

    def to_dict(self) -> dict[str, Any]:
        """Returns the costs as data that JSON takes: the fields of this class by name."""
        return dataclasses.asdict(self)

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent)
