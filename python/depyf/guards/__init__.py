"""Reads the guards of a compilation, and writes them as Python that can be executed.

Dynamo keeps the guards of a compilation as a tree of C++ objects. The function `read` turns a tree of guards into a
list with one `Guard` for each of Dynamo's conditions. A `Guard` has a condition as Python, the value that the condition
reads, and the line of source that needs the condition. The function `source` turns a list of guards into one Python
function, which accepts the same calls as the tree from which the guards were read.
"""

from __future__ import annotations

from depyf.guards.implied import Redundant, redundant
from depyf.guards.model import Guard, Guards, Verdict, evaluated
from depyf.guards.reading import read
from depyf.guards.source import source
from depyf.source_line import Line

__all__ = ["Guard", "Guards", "Line", "Redundant", "Verdict", "evaluated", "read", "redundant", "source"]
