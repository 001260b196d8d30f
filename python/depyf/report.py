"""Reports to the user that something inside depyf failed, and never raises an exception itself."""

from __future__ import annotations

import logging
import sys
import warnings
from types import FrameType

log = logging.getLogger("depyf")


def warn(message: str) -> None:
    """Issues a warning, or logs it if warnings are errors: nothing that depyf reports may stop the program."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "depyf":
        frame, level = frame.f_back, level + 1
    try:
        warnings.warn(message, UserWarning, stacklevel=level)
    except Warning:
        log.error("%s", message)
