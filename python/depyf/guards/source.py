"""Writes the guards of a compilation as one Python function."""

from __future__ import annotations

from collections.abc import Iterable

from depyf import _core
from depyf.compat import guard_words
from depyf.guards import leaf_forms
from depyf.guards.model import Guard


def source(guards: Iterable[Guard], name: str = "guard_0") -> str:
    """Returns the source of a function that returns the verdict of the guards.

    `guard(L, G)` returns whether the compilation may be used for these local and global variables (mappings from names
    to values). The generated function needs no module but torch. If a guard has no Python form, the generated function
    has a third parameter, `live`, through which it calls PyTorch's own objects: `live[3](L, G)` is `guards[3].live`.

    Args:
        guards: the guards as `read` returns them.
        name: the name of the function.
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
