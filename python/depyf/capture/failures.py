"""Failures within depyf, which never reach the program."""

from __future__ import annotations

from pathlib import Path

from depyf import report
from depyf.session import Session


class Failures:
    """Records failures within depyf in the session of a `prepare_debug` block, and warns the user once. The class is
    not thread safe: callers must hold the lock of the `Recorder`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.has_any = False
        """True if a failure was noted."""

    def add(self, error: Exception) -> None:
        """Records an exception that a hook of depyf raised."""
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f" ({Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno})" if place is not None else ""
        note = f"depyf failed, and the dump is incomplete: {type(error).__name__}: {error}{where}"
        if note not in self._session.notes:
            self._session.notes.append(note)
        had_any, self.has_any = self.has_any, True
        if not had_any:
            report.warn(note)
