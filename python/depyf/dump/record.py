"""The record of a dump for programs: `session.json`, with what it tells of other runs, and `times.json`."""

from __future__ import annotations

import json
from pathlib import Path

from depyf import _core
from depyf.session import SCHEMA_VERSION, Session


def merged_runs(directory: Path, session: Session) -> list[Session]:
    """The runs that the directory already tells of, and this one at the end; the same run is told of once."""
    runs: list[Session] = []
    path = directory / "session.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.get("schema_version") == SCHEMA_VERSION:
            runs = [Session.from_dict(one, str(directory)) for one in data["runs"]]
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        session.notes.append("The session.json that was in the directory could not be read, and was replaced.")
    mine = session.to_dict() if runs else None
    return [run for run in runs if run.to_dict() != mine] + [session]


def session_json(runs: list[Session]) -> str:
    """The content of `session.json`."""
    data = {"schema_version": SCHEMA_VERSION, "runs": [run.to_dict() for run in runs]}
    return _core.json_text(data, levels=6) + "\n"  # an artifact or a guard a line


def times_json(run: Session) -> str:
    """The content of `times.json`: of the last run how long each compilation took, in the order of `session.json`.

    A file of its own, as it is other in every run: what else is in a dump is the same where the program is.
    """
    return json.dumps({"schema_version": SCHEMA_VERSION, "seconds": [frame.seconds for frame in run.frames]}) + "\n"
