"""Guards as Python that can be executed.

Dynamo keeps the guards of a compilation as a tree of C++ objects. `read` turns the tree into a list with one `Guard`
for each of Dynamo's conditions: the Python for it, the value that it reads, and the line of source that needs it. The
function `source` turns the list of guards into one Python function that accepts the same calls as Dynamo's tree of
guards.
"""

from __future__ import annotations

from depyf.guards.implied import Redundant, redundant
from depyf.guards.model import Guard, Guards, Verdict, evaluated
from depyf.guards.reading import read
from depyf.guards.source import source
from depyf.source_line import Line

__all__ = ["Guard", "Guards", "Line", "Redundant", "Verdict", "evaluated", "read", "redundant", "source"]
