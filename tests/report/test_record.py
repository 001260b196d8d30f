"""Tests of the record as JSON: its schema, and records as input."""

import json
import os
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")
LOGS = ROOT.parent / "shared" / "data" / "torch-trace"
SCHEMA = ROOT / "docs" / "record.schema.json"

needs_logs = pytest.mark.skipif(not LOGS.is_dir(), reason="the logs of real runs are not at hand")

# One compilation of a dump with a member of each kind that a log does not fill.
FRAME = {
    "compile_id": "0/1",
    "name": "Net.forward",
    "code_name": "forward",
    "filename": "train.py",
    "first_line": 3,
    "guard_failures": [],
    "breaks": [],
}


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def inputs() -> list[Path]:
    return sorted(LOGS.iterdir()) if LOGS.is_dir() else []


def test_the_schema_in_docs_is_that_of_the_command() -> None:
    assert run("--schema").stdout == SCHEMA.read_text(), (
        "write it anew: depyf-report --schema > docs/record.schema.json"
    )


def test_each_member_is_described() -> None:
    words = set(re.findall(r"`([a-z_]+)`", (ROOT / "docs" / "record.md").read_text()))
    parts = json.loads(SCHEMA.read_text())["$defs"]
    described_elsewhere = {"message", "inside", "text"}
    missing = {name for part in parts.values() for name in part["properties"]} - words - described_elsewhere
    assert missing == set()


@needs_logs
@pytest.mark.parametrize("path", [path for path in inputs() if path.suffix != ".md"], ids=lambda path: path.name)
def test_a_record_is_valid_and_reads_back_as_itself(path: Path, tmp_path: Path) -> None:
    text = run("--json", "--links", path).stdout
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text()))
    record = tmp_path / "record.json"
    record.write_text(text)
    assert run("--json", "--links", record).stdout == text
    assert run("--links", record).stdout == run("--links", path).stdout


def test_a_dump_becomes_a_record_that_reads_back_as_itself(tmp_path: Path) -> None:
    session = {
        "schema_version": 1,
        "runs": [{"torch_version": "2.13.0", "python_version": "3.11.7", "notes": ["a note"], "frames": [FRAME]}],
    }
    (tmp_path / "session.json").write_text(json.dumps(session))
    text = run("--json", tmp_path).stdout
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text()))
    (process,) = json.loads(text)["processes"]
    assert process["notes"] == ["a note"] and len(process["compilations"]) == 1
    (tmp_path / "record.json").write_text(text)
    assert run("--json", tmp_path / "record.json").stdout == text


def test_a_record_of_version_1_is_read(tmp_path: Path) -> None:
    """Tests that fields which version 1 lacks, such as `events` and `notes`, are read as unknown."""
    place = {"file": "a.py", "line": 3, "function": "f", "text": None}
    compilation = {"id": "0/0", "status": "compiled", "place": place, "seconds": 1.5, "guards": None, "extra": [1]}
    old = {"schema_version": 1, "processes": [{"log": "a.log", "pid": 7, "rank": None, "compilations": [compilation]}]}
    (tmp_path / "old.json").write_text(json.dumps(old))
    new = json.loads(run("--json", tmp_path / "old.json").stdout)
    jsonschema.validate(new, json.loads(SCHEMA.read_text()))
    assert new["schema_version"] == 2
    (process,) = new["processes"]
    assert (process["log"], process["pid"], process["rank"], process["events"]) == ("a.log", 7, None, [])
    (read,) = process["compilations"]
    assert (read["id"], read["status"], read["place"], read["seconds"]) == ("0/0", "compiled", place, 1.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema_version": 2, "processes": [{"pid": "x"}]}', r"processes\[0\]\.pid: a whole number"),
        (
            '{"schema_version": 2, "processes": [{"compilations": [{"place": {"line": 1e99}}]}]}',
            r"processes\[0\]\.compilations\[0\]\.place\.line: a whole number",
        ),
        ('{"schema_version": 2, "processes": [{"compilations": [{"status": "done"}]}]}', r'status: one of "compiled"'),
        ('{"schema_version": 2, "processes": {}}', "processes: a list is expected"),
        ('{"schema_version": 3, "processes": []}', "the record has the version 3, and this depyf reads 1 to 2"),
        ('{"schema_version": 1, "runs": []}', "session.json of a dump; name the directory"),
        ('{"answer": 42}', "no record of depyf"),
        ('{"schema_version": 2, "processes": [', r"bad\.json, byte 36: "),
    ],
)
def test_what_is_no_record_is_named_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(text)
    done = run("--json", tmp_path / "bad.json")
    assert done.returncode == 1
    assert re.search(message, done.stderr), done.stderr
