"""Writes the guards of a compilation as one Python function."""

from __future__ import annotations

from collections.abc import Iterable

from depyf import _core
from depyf.compat import guard_words
from depyf.guards import leaf_forms
from depyf.guards.model import Guard


def source(guards: Iterable[Guard], name: str = "guard_0") -> str:
    """Returns the source of a Python function that checks all guards of a compilation.

    The generated `guard_0(L, G)` returns True if the compilation may be used for the local and global variables `L` and
    `G`, which are mappings from names to values. The generated function uses no other module than torch. If a guard has
    no Python form, the generated function has a third parameter, `live`, through which it calls PyTorch's own objects.
    For example, `live[3](L, G)` calls `guards[3].live`.

    Args:
        guards: the guards of one compilation, as `depyf.guards.read` returns them.
        name: the name of the generated function.
    """
    rows = [
        (
            guard.kind,
            guard.text,
            "" if guard.line is None else str(guard.line),
            guard.value or "",
            guard.conditions if guard.live is None else (f"live[{index}](L, G)",),
            guard.live is not None,
            guard.quiet,
        )
        for index, guard in enumerate(guards)
    ]
    return _core.guard_function(name, guard_words.QUIET, rows, leaf_forms.SHORTHANDS)
