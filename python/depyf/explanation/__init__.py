"""Implements `depyf.explain`, which states what code and graphs torch.compile generated for a function, why it compiled
them, and for which calls it would compile again."""

from __future__ import annotations

from depyf.explanation.build import explain
from depyf.explanation.model import SCHEMA_VERSION, Entry, Explanation, Graph, Resume

__all__ = ["SCHEMA_VERSION", "Entry", "Explanation", "Graph", "Resume", "explain"]
