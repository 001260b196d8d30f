"""The frontier of a compilation: the conditions that the next call must meet to use the compilation again, in the
user's terms.

The C++ core parses the conditions of guards and derives the frontier; see include/depyf/conditions.h.
"""

from __future__ import annotations

from collections.abc import Iterable

from depyf import _core
from depyf.guards.model import Guard, rows
from depyf.session import Limit, Symbol


def frontier(guards: Iterable[Guard], symbols: Iterable[Symbol] | None = None) -> list[Limit]:
    """Returns the limits of one compilation (the conditions that a call must meet to use it again). Limits that an
    argument can violate come first, and limits that calls rarely violate come last.

    Args:
        guards: the guards of the compilation.
        symbols: the symbolic sizes of the compilation with the origin of each bound; None if they were not recorded.
    """
    listed = list(guards)
    sizes = None if symbols is None else [(it.sources, it.lower_from, it.upper_from) for it in symbols]
    return [
        Limit(condition, subject, None if guard < 0 else listed[guard].line, origin)
        for condition, subject, guard, origin in _core.frontier(rows(listed), sizes)
    ]


def together(entries: list[list[Limit]], most: int | None = None) -> list[str]:
    """Returns a description of the calls that at least one of a function's cache entries accepts: one line of text for
    each value that the entries fix or bound.

    Args:
        entries: the limits of each cache entry.
        most: the recompilation limit of the function; None if the limit is unknown.
    """
    limits = [[(limit.condition, limit.subject, limit.why) for limit in entry] for entry in entries]
    return _core.accepted_together(limits, most)
