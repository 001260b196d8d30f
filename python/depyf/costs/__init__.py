"""Measures the costs of compiled functions and reports them by the user's own names. `guard_costs` measures how long
Dynamo takes to find the compilation for a call, and `compile_costs` records the time of compiling, divided by causes.
`memory_costs` records the values that are kept for the backward, and `profile` measures the time of calls by line of
source."""

from __future__ import annotations

from depyf.costs.all_costs import Costs
from depyf.costs.compile_time import CompileCosts, compile_costs
from depyf.costs.guards import guard_costs
from depyf.costs.memory import MemoryCosts, WhatIf, memory_costs
from depyf.costs.model import EntryCost, GuardCosts
from depyf.costs.run_time import RunCosts, profile
from depyf.session import GroupCost

__all__ = [
    "CompileCosts",
    "Costs",
    "EntryCost",
    "GroupCost",
    "GuardCosts",
    "MemoryCosts",
    "RunCosts",
    "WhatIf",
    "compile_costs",
    "guard_costs",
    "memory_costs",
    "profile",
]
