"""`depyf.explain`: states what torch.compile made of a function, why, and what it would compile next."""

from __future__ import annotations

from depyf.explanation.build import explain
from depyf.explanation.model import SCHEMA_VERSION, Entry, Explanation, Graph, Resume

__all__ = ["SCHEMA_VERSION", "Entry", "Explanation", "Graph", "Resume", "explain"]
