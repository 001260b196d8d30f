"""Writes the journal of a `prepare_debug` block: for each compilation, the values that have changed since they were
last written."""

from __future__ import annotations

import itertools
import operator
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from depyf import dump
from depyf.capture.compilation import Compilation
from depyf.journal import Journal
from depyf.session import Frame, Session

_NO_FIELDS = vars(Frame("", ""))
_ABSENT = object()


class Journaling:
    """The journal of one `prepare_debug` block. The class is not thread safe: callers must hold the lock of the
    `Recorder`.

    A process that is forked in the `prepare_debug` block begins a journal of its own when it compiles. The new journal
    begins with all data that has been recorded so far.
    """

    def __init__(self, directory: Path, session: Session, order: list[Compilation]) -> None:
        self._session = session
        self._order = order
        self._journal = Journal(directory)
        self._begin()

    def _begin(self) -> None:
        # Maps the id() of a compilation to a pair: the number of the compilation in the journal, and its values that
        # have been written to the journal.
        self._frames: dict[int, tuple[int, dict[str, Any]]] = {}
        self._codes: set[int] = set()
        self._of_session = 0, 0  # how many of the session's notes and other artifacts are in the journal
        circumstances = ("torch_version", "python_version", "working_directory", "run")
        self._journal.begin({name: getattr(self._session, name) for name in circumstances})

    def note(self, touched: Iterable[Compilation]) -> None:
        """Writes the changes of the compilations `touched` to the journal. Never raises an exception: a journal that
        cannot be written is abandoned."""
        try:
            self._note(touched)
        except Exception as error:
            self._journal.give_up(f"{type(error).__name__}: {error}")

    def _note(self, touched: Iterable[Compilation]) -> None:
        if not self._journal.is_ours:
            self._begin()
            touched = self._order
        for compile in touched:
            number, noted = self._frames.get(id(compile)) or (len(self._frames), {**_NO_FIELDS})
            self._frames[id(compile)] = number, noted
            if compile.original is not None and compile.number_of_original not in self._codes:
                self._codes.add(compile.number_of_original)
                compile.source = None if compile.frame.is_resume else dump.original_source(compile.original)
                self._note_code(compile.number_of_original, compile.original, compile.source)
            changed = _changed(noted, {**vars(compile.frame), **_beside(compile)})
            if changed:
                line: dict[str, Any] = {"frame": number}
                for name, value in changed.items():
                    line.setdefault("fields" if name in _NO_FIELDS else "of", {})[name] = value
                self._journal.write(line)
        notes, artifacts = self._session.notes, self._session.other_artifacts  # `notes` and `artifacts` only grow
        if self._of_session != (len(notes), len(artifacts)):
            self._of_session = len(notes), len(artifacts)
            self._journal.write({"session": {"notes": notes, "other_artifacts": artifacts}})

    def _note_code(self, number: int, code: types.CodeType, source: str | None) -> None:
        place = {"file": code.co_filename, "line": code.co_firstlineno}
        self._journal.write({"code": number, "name": code.co_name, **place, "source": source})

    def fold(self) -> None:
        """Removes the journal. This method must be called only when `session.json` contains everything that the journal
        contains."""
        self._journal.remove()

    def close(self) -> None:
        """Closes the journal. The journal's file is kept, unless `fold` has removed it."""
        self._journal.close()


def _beside(compile: Compilation) -> dict[str, Any]:
    """Returns the values of a compilation that the index and the `full_code` files need, and that are not fields of its
    frame."""
    return {
        "code": compile.number_of_original or None,
        "resumes": dict(compile.resumes),
        "resume_places": dict(compile.resume_places),
        "cached": sorted(compile.cached, key=str),
        "elsewhere": compile.elsewhere,
        "ended": compile.ended,
    }


def _changed(noted: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Returns the items of `values` that differ from those in `noted`, and updates `noted`."""
    # Few of the values differ, so all values are compared in C code, without a Python loop.
    differs = map(operator.ne, map(noted.get, values, itertools.repeat(_ABSENT)), values.values())
    changed = dict(itertools.compress(values.items(), differs))
    for name, value in changed.items():
        noted[name] = value[:] if type(value) is list else value  # A list may grow later, so a copy is kept.
    return changed  # The caller writes the values immediately, before they can change.
