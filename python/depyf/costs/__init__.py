"""Costs by the user's own names: `guard_costs` measures what it takes to find the compilation for a call."""

from __future__ import annotations

from depyf.costs.guards import guard_costs
from depyf.costs.model import EntryCost, GroupCost, GuardCosts

__all__ = ["EntryCost", "GroupCost", "GuardCosts", "guard_costs"]
