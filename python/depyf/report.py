"""Telling the user that something inside depyf failed, without failing in turn."""

from __future__ import annotations

import logging
import warnings

log = logging.getLogger("depyf")


def warn(message: str) -> None:
    """Warns, and goes on where warnings are errors: what depyf has to say must not stop the program."""
    try:
        warnings.warn(message, UserWarning, stacklevel=3)
    except Warning:
        log.error("%s", message)
