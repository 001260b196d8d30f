"""Writes the record of a dump for programs: `session.json`, which also keeps earlier runs, and `times.json`."""

from __future__ import annotations

import itertools
import json
import operator
import os
import re
from pathlib import Path

from depyf import _core, files, report
from depyf.plain_data import plain
from depyf.provenance import dumped
from depyf.session import SCHEMA_VERSION, Session, Unreadable, read_runs

_PAGE = re.compile(r"compilation_[0-9_]+(run_[0-9_]+)?\.md")


def write(
    directory: Path,
    sessions: list[Session],
    provenance: list[_core.JsonText],
    tables: list[tuple[str, int]] | None = None,
    *,
    last: bool = True,
    recovered: bool = False,
) -> None:
    """Writes the files that describe the whole directory of a dump. If a file cannot be written, the other files are
    still written.

    Args:
        sessions: the runs to add; the last run gets a note if `session.json` cannot be read or written.
        provenance: for each compilation of the added runs, the links between its nodes, kernels and lines of source.
        tables: for each compilation of the last run, the costs of its lines of source, and the number of operators of
            its graph (-1 if the number is unknown).
        recovered: true if the runs were rebuilt from journals, so that the costs of lines are computed from the files
            of graphs.
        last: false if the directory already contains a run that is later than the runs to add.

    Raises:
        OSError: a file cannot be written.
    """
    failures: list[OSError] = []

    def replace(name: str, text: str) -> None:
        try:
            files.replace(directory / name, text)
        except OSError as error:
            failures.append(error)
            if name == "session.json":
                sessions[-1].notes.append(
                    f"{name} could not be written ({error.strerror}): move {directory / name} away, and run the program again."
                )

    runs = _merged(directory, sessions, last=last)
    text = session_json(runs)
    replace("session.json", text)
    times = times_json(sessions[-1]) if runs[-1] is sessions[-1] else ""
    tables = tables or [] if times else []
    pages = _core.index_files(str(directory), text, times or _content(directory / "times.json"), tables, recovered)
    for name, page_text in pages.items():
        replace(name, page_text)
    for path in directory.glob("compilation_*.md"):  # Pages of runs that are not recorded are deleted.
        if path.name not in pages and _PAGE.fullmatch(path.name):
            path.unlink(missing_ok=True)
    try:
        dumped.write_record(directory, provenance)
    except OSError as error:
        failures.append(error)
    if times:
        replace("times.json", times)
    if failures:
        raise failures[0]


def _merged(directory: Path, sessions: list[Session], *, last: bool) -> list[Session]:
    """Returns the runs that the directory already records together with the new runs. A run that is already recorded is
    listed only once."""
    runs: list[Session] = []
    try:
        runs = read_runs(directory)
    except Unreadable as error:
        note = _put_aside(directory, error.why)
        sessions[-1].notes.append(note)
        report.warn(f"depyf: {note}")
    new = [session.to_dict() for session in sessions] if runs else []
    runs = [run for run in runs if run.to_dict() not in new]
    place = len(runs) if last else max(len(runs) - 1, 0)
    return [*runs[:place], *sessions, *runs[place:]]


def _put_aside(directory: Path, why: str) -> str:
    """Renames a session.json that cannot be read, so that nothing is lost. Returns a note about the unreadable
    session.json."""
    lead = f"The session.json that was in the directory could not be read ({why})"
    for number in itertools.count():
        name = f"session.unreadable.{number}.json"
        if not os.path.lexists(directory / name):
            break
    try:
        os.rename(directory / "session.json", directory / name)
    except OSError as error:
        return f"{lead}, nor be renamed ({error.strerror}): move it away, and run the program again."
    return f"{lead}: it is {name} now, and its runs are not in this index. Delete it, or read it with the depyf that wrote it."


def _content(path: Path) -> str:
    """Returns the content of a file; "" if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def session_json(runs: list[Session]) -> str:
    """Returns the content of `session.json`."""
    data = {"schema_version": SCHEMA_VERSION, "runs": [run.to_write() for run in runs]}
    return _core.json_text(data, levels=6) + "\n"  # Each artifact and each guard gets a line.


def times_json(run: Session) -> str:
    """Returns the content of `times.json`. For each compilation of the last run, `times.json` contains the duration and
    the time of a check of the guards, in the order of `session.json`. `times.json` also contains the events of
    PyTorch's timeline.

    An event is a list with the kind of the event, its name, the microseconds since `start_us`, and its compile id or
    "". The kind of an event is "B" (begin), "E" (end) or "X" (whole phase). An event of the kind "X" also has its
    duration in microseconds.

    The times of compilations are not in `session.json` because they differ in every run; the other files of a dump stay
    the same if the program stays the same.
    """
    phase_events = run.phase_events
    start = min(map(operator.attrgetter("microseconds"), phase_events), default=0.0)
    events = [
        [kind, name, round(microseconds - start), compile_id, *([round(duration)] if kind == "X" else ())]
        for kind, name, microseconds, compile_id, duration in phase_events
    ]
    seconds = [frame.seconds for frame in run.frames]
    content = {
        "schema_version": SCHEMA_VERSION,
        "seconds": seconds,
        "guard_times": [plain(frame.guard_time) for frame in run.frames],
        "start_us": round(start),
        "events": events,
    }
    return json.dumps(content, separators=(",", ":")) + "\n"
