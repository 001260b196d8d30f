"""`TORCH_LOGS="+bytecode"` shows source too."""

from __future__ import annotations

import logging
import types
from collections.abc import Callable

from depyf import decompiler
from depyf.compat import dynamo

__all__ = ["install", "uninstall"]

_remove: Callable[[], None] | None = None
"""The function that removes the hook; None before `install` is called, and after `uninstall`, which clears it. It has
no lock, because both are meant for the one thread that sets up logging. A forked child goes on with the hook."""


def install() -> None:
    """Makes `TORCH_LOGS="+bytecode"` print the source of transformed code too, until `uninstall`.

    A second call does nothing.
    """
    global _remove
    if _remove is None:
        _remove = dynamo.add_bytecode_hook(_show)


def uninstall() -> None:
    """Undoes what `install` did. A second call does nothing."""
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
