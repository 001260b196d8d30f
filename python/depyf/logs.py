"""Makes `TORCH_LOGS="+bytecode"` print decompiled source, too."""

from __future__ import annotations

import logging
import types
from collections.abc import Callable

from depyf import decompiler
from depyf.compat import dynamo

__all__ = ["install", "uninstall"]

_remove: Callable[[], None] | None = None
"""The function that removes the hook which prints transformed code; None before `install` is called, and after
`uninstall`, which clears `_remove`. `_remove` has no lock, because `install` and `uninstall` are meant for the one
thread that sets up logging. A forked child keeps the hook that prints transformed code."""


def install() -> None:
    """Makes `TORCH_LOGS="+bytecode"` print the source of transformed code too, until `uninstall`.

    A second call of `install` has no effect.
    """
    global _remove
    if _remove is None:
        _remove = dynamo.add_bytecode_hook(_show)


def uninstall() -> None:
    """Removes the hook that `install` added, if there is one."""
    global _remove
    if _remove is not None:
        _remove()
        _remove = None


def _show(original: types.CodeType, code: types.CodeType) -> None:
    log = dynamo.bytecode_log()
    if not log.isEnabledFor(logging.DEBUG):
        return
    try:
        log.debug("possible source code:\n%s", decompiler.source_of(code))
    except Exception as error:
        log.debug("depyf could not decompile %s: %s", original.co_name, error)
