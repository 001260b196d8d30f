"""Implements `depyf.numerics`, which finds the first compilation stage, operator and source line whose results differ
from the results of eager execution."""

from __future__ import annotations

from depyf.numerical.measure import numerics
from depyf.numerical.model import Finding, GraphRow, NumericsReport, ValueRow

__all__ = ["Finding", "GraphRow", "NumericsReport", "ValueRow", "numerics"]
