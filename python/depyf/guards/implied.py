"""Finds guards that other guards of the same compilation imply. The rules are implemented in C++; see
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
    """The guard as Python; if it has no Python form, as Dynamo writes it."""
    implied_by: list[str]
    """The conditions of other guards that imply it."""
    position: int
    """The index of the guard in the list of the compilation's guards."""


def redundant(guards: Iterable[Guard]) -> list[Redundant]:
    """Returns the guards that other guards imply, in their order, each with the conditions that imply it."""
    listed = list(guards)
    return [
        Redundant(listed[position].expression or listed[position].text, implied_by, position)
        for position, implied_by in _core.redundant_guards(rows(listed), id(None))
    ]
