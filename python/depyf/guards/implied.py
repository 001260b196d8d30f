"""Determines the guards that other guards of the same compilation imply. C++ code decides which guards imply which; see
include/depyf/conditions.h."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from depyf import _core
from depyf.guards.model import Guard, rows


@dataclass(frozen=True)
class Redundant:
    """A guard that the remaining guards of its compilation imply."""

    guard: str
    """The guard as a Python expression. A guard without a Python form is written in Dynamo's words."""
    implied_by: list[str]
    """The conditions of those other guards that imply this guard."""
    position: int
    """The index of the guard in the list of the compilation's guards."""


def redundant(guards: Iterable[Guard]) -> list[Redundant]:
    """Returns the guards that other guards imply, in the order of `guards`, each with the conditions of the guards that
    imply it."""
    listed = list(guards)
    return [
        Redundant(listed[position].expression or listed[position].text, implied_by, position)
        for position, implied_by in _core.redundant_guards(rows(listed), id(None))
    ]
