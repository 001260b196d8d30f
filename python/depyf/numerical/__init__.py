"""`depyf.numerics`: finds the stage, operator and line of a compilation that first compute something other than eager
does."""

from __future__ import annotations

from depyf.numerical.measure import numerics
from depyf.numerical.model import Finding, GraphRow, NumericsReport, ValueRow

__all__ = ["Finding", "GraphRow", "NumericsReport", "ValueRow", "numerics"]
