"""Tests of dumps of processes that die in a block of prepare_debug, and of a session.json that cannot be read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import depyf
import dying_processes as dying
import torch
from depyf import journal, program
from depyf.capture import recovery
from depyf.plain_data import plain
from depyf.session import Session, read_runs
from torch_helpers import ENVIRONMENT, check_dump, example, names_in, pages

RESUME = f"torch_dynamo_resume_in_first_at_{dying.first.__code__.co_firstlineno + 2}"


@pytest.fixture(scope="module")
def dumps(tmp_path_factory):
    directory = tmp_path_factory.mktemp("dying")
    command = [sys.executable, dying.__file__, str(directory)]
    subprocess.run(command, env=ENVIRONMENT, check=True, timeout=600, capture_output=True)
    return directory


@pytest.mark.parametrize("way", dying.DYING)
def test_a_dump_can_be_explained_whose_process_died(dumps, way):
    directory = dumps / way
    assert "index.md" not in names_in(directory) or way == "outlived_by_forked"
    text = program.summary(directory)
    assert text.count("The process died before the block ended (last compilation: ") == 1
    check_dump(directory)
    run = next(run for run in read_runs(directory) if run.notes)
    assert [frame.function for frame in run.frames[:2]] == ["first", RESUME]
    top, resume = run.frames[:2]
    assert top.status == resume.status == "compiled" and resume.resume_name in top.resume_calls
    assert len(top.breaks) == 1 and top.guards
    assert {"Captured_Graph", "Forward_graph"} <= {artifact.kind for artifact in top.artifacts}
    if run is read_runs(directory)[-1]:
        assert all(json.loads((directory / "times.json").read_text())["seconds"][:2])
    story = (directory / run.full_code[0].file).read_text()
    assert (
        "def first(x):\n    y = x.sin()" in story
        and "GLOBAL_STATE" in story
        and "torch.sin" in story
        or ".sin()" in story
    )
    if way == "killed_by_backend":
        assert run.frames[2].error == "The process died before this compilation ended."
        assert "2/0 of second" in text and "which had not ended" in text
    if way in ("thread_compiles", "outlived_by_forked"):
        assert "def second(x):" in "".join(path.read_text() for path in directory.glob("full_code_for_second_*"))
    # The dump is rebuilt once from its journal; later reads change no file.
    assert not list(directory.glob(journal.PATTERN))
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert program.summary(directory) == text or way == "outlived_by_forked"
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == before


@pytest.mark.parametrize("way", dying.ENDING)
def test_a_block_that_ends_while_the_process_fails_leaves_a_whole_dump(dumps, way):
    directory = dumps / way
    assert {"index.md", "session.json"} <= set(names_in(directory))
    died = list(directory.glob(journal.PATTERN))
    assert len(died) == (way == "forked_dies")
    text = program.summary(directory)
    assert ("The process died" in text) == bool(died)
    check_dump(directory)
    assert ("1 function, 2 compilations, 1 distinct graph break" in text) != bool(died)
    assert (
        "2 runs in this directory: 2 functions, 5 compilations" in text and "was forked in the block of process" in text
    ) == bool(died)


def test_each_way_to_die_is_one(dumps):
    exits = json.loads((dumps / "exits.json").read_text())
    killed = [way for way in dying.DYING if exits[way] < 0]
    assert len(killed) == 10 and exits["exit_at_once"] == 1 and exits["exit_in_thread"] == 4 and exits["exec"] == 0


def without_named_differences(session: Session) -> dict:
    data = session.to_dict()
    for name in ("features", "notes"):
        del data[name]
    for frame in data["frames"]:
        del frame["provenance"], frame["guards_file"]
    return data


@pytest.mark.parametrize(
    "name, backend", [("toy", "eager"), ("toy", "aot_eager"), ("hard", "eager"), ("train", "aot_eager")]
)
def test_what_is_rebuilt_is_what_a_normal_end_writes(name, backend, tmp_path, capsys):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    module = example(name)
    with depyf.prepare_debug(whole):
        module.main(backend)
        shutil.copytree(whole, cut)  # the files that a process leaves if it dies at this point
    assert [block.is_open for block in recovery.recover(cut)] == [False]
    ((rebuilt,), (session,)) = read_runs(cut), read_runs(whole)
    assert len(session.frames) > 1
    assert without_named_differences(rebuilt) == without_named_differences(session)
    # The note names the parts that are missing: the time of compiling, the links from lines to kernels and the guards
    # as functions.
    lacks = {name for name in set(names_in(whole)) - set(names_in(cut)) if not name.startswith("__guards_")}
    assert lacks <= {"provenance.json", "provenance.md"}
    named = (
        "where the time of compiling went, the links from lines to kernels and the guards as functions are not known"
    )
    assert named in rebuilt.notes[0]
    assert set(names_in(cut)) <= set(names_in(whole))

    def index(directory):
        # The rebuilt dump has a note that the time of compiling is not known; the note and the times are removed.
        text = re.sub(r"(?:\*\*Note\.\*\*|Compiling took|- Predicted saving of) (?:.+\n)+\n", "", pages(directory))
        # The graphs alone do not always show the module, which is the last column of tables.md.
        return re.sub(r"- \[__guards_.*\n|(?<=`) \| [^|\n]*\|$", "", text, flags=re.MULTILINE)

    if (whole / "tables.md").exists():
        # The graphs alone do not always show the module, which is the last column.
        tables_of_both = [
            re.sub(r"\| [^|]*\|$", "|", (directory / "tables.md").read_text(), flags=re.MULTILINE)
            for directory in (cut, whole)
        ]
        assert tables_of_both[0] == tables_of_both[1]
    if not session.frames[0].provenance:
        assert index(cut) == index(whole)
    seconds = [json.loads((directory / "times.json").read_text())["seconds"] for directory in (cut, whole)]
    assert seconds[0] == seconds[1]


def test_a_block_that_is_open_is_told_of_and_left_alone(tmp_path):
    with depyf.prepare_debug(tmp_path):
        torch.compile(dying.second, backend="eager")(torch.ones(3))
        before = names_in(tmp_path)
        assert "The block is still open (last compilation: 0/0 of second" in program.summary(tmp_path)
        # `depyf explain` in another process reports that the block is still open.
        command = [sys.executable, "-m", "depyf", "explain", str(tmp_path)]
        done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=100)
        assert done.returncode == 1 and "The block is still open (last compilation: 0/0 of second" in done.stderr
        assert names_in(tmp_path) == before
    check_dump(tmp_path)
    assert "still open" not in program.summary(tmp_path)


def test_a_line_that_is_cut_costs_that_line(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    with depyf.prepare_debug(whole):
        torch.compile(dying.first, backend="eager")(torch.ones(3))
        shutil.copytree(whole, cut)
    (path,) = cut.glob(journal.PATTERN)
    data = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
    # A line of the journal that lacks only its newline can be read.
    whole_lines = {0, *ends, *(end - 1 for end in ends)}
    texts = {}
    for at in range(0, len(data), len(data) // 60):
        path.write_bytes(data[:at])
        (block,) = recovery.blocks(cut)
        is_cut = at not in whole_lines
        assert ("1 line of the journal cannot be read." in block.session.notes) == is_cut
        texts[at] = len(block.compilations)
        assert isinstance(plain(block.session), dict)
    assert texts[0] == 0 and max(texts.values()) == 2 and sorted(texts.values()) == list(texts.values())
    # Lines in the middle of the journal that depyf did not write are skipped.
    path.write_bytes(data[: ends[3]] + b'{"frame": "x"}\n[' + b"[" * 100_000 + b"\n\xff\n" + data[ends[3] :])
    (block,) = recovery.recover(cut)
    assert "3 lines of the journal cannot be read." in block.session.notes and len(block.compilations) == 2


def test_two_processes_in_one_directory_one_of_which_dies(tmp_path):
    code = """
import os, sys, torch, depyf, dying_processes as dying
with depyf.prepare_debug(sys.argv[1]):
    torch.compile(getattr(dying, sys.argv[2]), backend="eager")(torch.ones(3))
    print("ready", flush=True)
    sys.stdin.read(1)
    if sys.argv[2] == "first":
        os._exit(1)
"""
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{ENVIRONMENT['PYTHONPATH']}:{Path(dying.__file__).parent}"}
    processes = []
    for name in ("first", "second"):
        command = [sys.executable, "-c", code, str(tmp_path), name]
        processes.append(
            subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.communicate("x", timeout=100)
    text = program.summary(tmp_path)
    assert "2 runs in this directory" in text and text.count("The process died before the block ended") == 1
    runs = read_runs(tmp_path)
    assert [run.frames[0].function for run in runs] == ["first", "second"]  # the run that ended last is the last one
    check_dump(tmp_path)


def test_a_journal_that_cannot_grow_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "MAX_BYTES", 2000)
    with depyf.prepare_debug(tmp_path / "dump"):
        torch.compile(dying.first, backend="eager")(torch.ones(3))
        (path,) = (tmp_path / "dump").glob(journal.PATTERN)
        assert path.stat().st_size < 2100
        shutil.copytree(tmp_path / "dump", tmp_path / "cut")
    check_dump(tmp_path / "dump")
    assert "greatest size" in program.summary(tmp_path / "cut")


def test_threads_that_compile_at_once_are_all_noted(tmp_path):
    def work(n):
        namespace = {}
        exec(f"def f{n}(x):\n    return x * {n}", namespace)
        torch.compile(namespace[f"f{n}"], backend="eager")(torch.ones(3))

    with depyf.prepare_debug(tmp_path / "whole"):
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    recovery.recover(tmp_path / "cut")
    (rebuilt,), (session,) = read_runs(tmp_path / "cut"), read_runs(tmp_path / "whole")
    assert without_named_differences(rebuilt) == without_named_differences(session)


UNREADABLE = {
    "nested too deeply": "[" * 200_000,
    "schema version is 99": json.dumps({"schema_version": 99, "runs": []}),
    "no 'schema_version'": "{}",
    "JSONDecodeError": '{"schema_version": 1, "ru',
    "frames is not a list": json.dumps({"schema_version": 1, "runs": [{"frames": 5}]}),
    "function is not str": json.dumps(
        {"schema_version": 1, "runs": [{"frames": [{"compile_id": "0/0", "function": 5}]}]}
    ),
    "unknown fields: surprise": json.dumps({"schema_version": 1, "runs": [{"surprise": 5}]}),
    "a run is not an object": json.dumps({"schema_version": 1, "runs": [None]}),
    "runs is not a list": json.dumps({"schema_version": 1, "runs": {}}),
    "list indices": "[]",
    "codec can't decode": b'{"\xff": 1}',
    "Is a directory": None,
}


@pytest.mark.parametrize("why", UNREADABLE)
def test_a_session_that_cannot_be_read_costs_a_message(why, tmp_path, capsys):
    content = UNREADABLE[why]
    path = tmp_path / "session.json"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    from depyf import cli

    assert cli.main(["explain", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert (
        why in told and "session.json" in told and "move" in told and "Traceback" not in told and told.count("\n") == 1
    )
    with pytest.warns(UserWarning, match="session.unreadable.0.json"), depyf.prepare_debug(tmp_path) as session:
        torch.compile(dying.second, backend="eager")(torch.ones(3))
    assert why in session.notes[0]
    assert why.replace("'", "") in (tmp_path / "index.md").read_text().replace("'", "")
    (run,) = read_runs(tmp_path)
    assert [frame.function for frame in run.frames] == ["second"]
    kept = tmp_path / "session.unreadable.0.json"
    assert (
        kept.is_dir()
        if content is None
        else kept.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    )
