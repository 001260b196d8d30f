"""Returns sentences about values that no guard checks, which are composed in C++.

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
    """Returns sentences about arguments, globals that a function reads, and the state of the process, for those without
    a guard.

    Args:
        listed: the guards.
        code: the code of the function.
    """
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    read = [name for name in _core.global_names(code) if not hasattr(builtins, name)]
    return _core.unchecked_values(rows(listed), [*arguments, *code.co_freevars], read)
