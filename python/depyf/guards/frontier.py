"""The frontier of a compilation: the conditions on the next call under which it is used again, in the user's terms.

The conditions are parsed in C++; see include/depyf/conditions.h.
"""

from __future__ import annotations

from collections.abc import Iterable

from depyf import _core
from depyf.guards.model import Guard, rows
from depyf.session import Limit, Symbol


def frontier(guards: Iterable[Guard], symbols: Iterable[Symbol] | None = None) -> list[Limit]:
    """Returns the limits of one compilation: first those that an argument can cross, and last those that are rarely
    crossed.

    Args:
        guards: the guards of the compilation.
        symbols: the symbolic sizes of the compilation with the origin of each bound, if they were recorded.
    """
    listed = list(guards)
    sizes = None if symbols is None else [(it.sources, it.lower_from, it.upper_from) for it in symbols]
    return [
        Limit(condition, subject, None if guard < 0 else listed[guard].line, origin)
        for condition, subject, guard, origin in _core.frontier(rows(listed), sizes)
    ]


def together(entries: list[list[Limit]], most: int | None = None) -> list[str]:
    """Returns the calls that the entries of a function accept together, as one line of text for each value that the
    entries fix or bound.

    Args:
        entries: the limits of each entry.
        most: the recompilation limit of a function.
    """
    limits = [[(limit.condition, limit.subject, limit.why) for limit in entry] for entry in entries]
    return _core.accepted_together(limits, most)
