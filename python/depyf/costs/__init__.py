"""The costs of compiled functions by the user's own names: `guard_costs` measures how long it takes to find the
compilation for a call, `compile_costs` records where the time of compiling goes, and `memory_costs` what is kept for
the backward."""

from __future__ import annotations

from depyf.costs.compile_time import CompileCosts, compile_costs
from depyf.costs.guards import guard_costs
from depyf.costs.memory import MemoryCosts, WhatIf, memory_costs
from depyf.costs.model import EntryCost, GroupCost, GuardCosts

__all__ = [
    "CompileCosts",
    "EntryCost",
    "GroupCost",
    "GuardCosts",
    "MemoryCosts",
    "WhatIf",
    "compile_costs",
    "guard_costs",
    "memory_costs",
]
