"""Costs by the user's own names: `guard_costs` measures what it takes to find the compilation for a call, `memory_costs` records
what is kept for the backward."""

from __future__ import annotations

from depyf.costs.guards import guard_costs
from depyf.costs.memory import MemoryCosts, WhatIf, memory_costs
from depyf.costs.model import EntryCost, GroupCost, GuardCosts

__all__ = ["EntryCost", "GroupCost", "GuardCosts", "MemoryCosts", "WhatIf", "guard_costs", "memory_costs"]
