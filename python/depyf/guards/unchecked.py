"""Describes the values that no guard checks, in sentences that the C++ core composes.

`aot_compile` drops every guard on a global and every guard that cannot be saved; `guard_filter_fn` drops the guards
that the user chooses.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterable

from depyf import _core
from depyf.guards.model import Guard, rows


def of_values(listed: Iterable[Guard], code: types.CodeType) -> list[str]:
    """Returns sentences that name those arguments of a function, globals that the function reads, and settings of the
    process that no guard checks.

    Args:
        listed: the guards of a compilation of the function.
        code: the code of the function.
    """
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    read = [name for name in _core.global_names(code) if not hasattr(builtins, name)]
    return _core.unchecked_values(rows(listed), [*arguments, *code.co_freevars], read)
