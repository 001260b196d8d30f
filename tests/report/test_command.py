"""Tests of depyf-report: logs, summary, JSON, errors, exit status."""

import collections
import gzip
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")
LOGS = ROOT.parent / "shared" / "data" / "torch-trace"
CONTEXT = {"rank", "frame_id", "frame_compile_id", "attempt", "compiled_autograd_id", "subgraph_name", "has_payload"}


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def record_of(*paths: object) -> dict:
    return json.loads(run("--json", *paths).stdout)


def kinds_of(log: Path) -> collections.Counter[str]:
    """Returns the number of records of a log by kind, counted with a regular expression, independent of depyf."""
    kinds: collections.Counter[str] = collections.Counter()
    for line in log.read_bytes().decode().split("\n"):
        if not re.match(r"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ ", line):
            continue
        header = json.loads(line[line.index("] {") + 2 :])
        (kind,) = header.keys() - CONTEXT - {"stack"}
        kinds[f"artifact:{header[kind]['name']}" if kind == "artifact" else kind] += 1
    return kinds


real_logs = sorted(path for path in LOGS.rglob("*") if path.suffix in {".log", ".txt"} and path.name != "README.md")


@pytest.mark.skipif(not real_logs, reason="the logs of real runs are not at hand")
@pytest.mark.parametrize("log", real_logs, ids=lambda log: log.name)
def test_no_record_of_a_real_log_is_lost(log: Path) -> None:
    (process,) = record_of(log)["processes"]
    assert process["records"] == kinds_of(log)
    assert not [problem for problem in process["problems"] if "no record" in problem["message"]]
    sums = [
        (phase["self_us"], compilation["id"])
        for compilation in process["compilations"]
        for phase in compilation["phases"]
    ]
    assert all(us >= 0 for us, _ in sums)


@pytest.mark.skipif(not real_logs, reason="the logs of real runs are not at hand")
def test_ranks_that_compiled_something_else_are_named_with_the_difference() -> None:
    done = run(LOGS / "multi_rank_logs")
    assert "The same compilations: rank 0, rank 2." in done.stdout
    assert "rank 3: first differs from rank 1 in compilation 0/7: compiled elsewhere, not here: kernel" in done.stdout


def record_text(members: str) -> str:
    return f"V1123 02:17:10.130000 4711 torch/a.py:1] {{{members}}}\n"


def test_a_directory_holds_one_process_a_log(tmp_path: Path) -> None:
    for rank in (10, 2):
        text = record_text(f'"rank": {rank}, "describe_storage": {{}}, "frame_id": 0, "frame_compile_id": 0')
        (tmp_path / f"{rank}.log").write_text(text)
    (tmp_path / "notes.txt").write_text("no log")
    done = run("--json", tmp_path)
    assert done.returncode == 0
    assert [process["rank"] for process in json.loads(done.stdout)["processes"]] == [2, 10]


def test_pages_are_written_from_a_log_and_nothing_is_overwritten(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    start = '"dynamo_start": {"stack": [{"line": 3, "name": "forward", "filename": 0}]}, "frame_id": 0, "frame_compile_id": '
    log.write_text(record_text('"str": ["/a/net.py", 0]') + record_text(f"{start}0") + record_text(f"{start}1"))
    done = run("-o", tmp_path / "pages", log)
    assert done.returncode == 0 and "index.md" in done.stdout, done
    names = sorted(path.name for path in (tmp_path / "pages").iterdir())
    assert names == ["compilation_0_0.md", "compilation_0_1.md", "index.md"]
    index = (tmp_path / "pages" / "index.md").read_text()
    assert "| `forward` | net.py:3 | [0/1](compilation_0_1.md) |" in index
    page = (tmp_path / "pages" / "compilation_0_0.md").read_text()
    assert "the log ends before this compilation does" in page
    (tmp_path / "pages" / "index.md").write_text("mine")
    done = run("-o", tmp_path / "pages", log)
    assert done.returncode == 1 and "exists already" in done.stderr and "--force" in done.stderr
    assert (tmp_path / "pages" / "index.md").read_text() == "mine"
    assert run("-o", tmp_path / "pages", "--force", log).returncode == 0
    assert (tmp_path / "pages" / "index.md").read_text() == index
    assert run("-o").returncode == 2


@pytest.mark.skipif(not real_logs, reason="the logs of real runs are not at hand")
def test_pages_of_real_logs_link_to_pages_that_are_there(tmp_path: Path) -> None:
    run("-o", tmp_path / "pages", LOGS)
    names = {path.name for path in (tmp_path / "pages").iterdir()}
    for path in (tmp_path / "pages").glob("*.md"):
        assert set(re.findall(r"\]\(([\w.]+)\)", path.read_text())) <= names


@pytest.mark.skipif(not real_logs, reason="the logs of real runs are not at hand")
def test_texts_of_a_log_become_files_that_the_pages_link(tmp_path: Path) -> None:
    log = LOGS / "links.log"
    assert run("-o", tmp_path / "pages", log).returncode in (0, 1)
    content = log.read_bytes().decode()
    (process,) = record_of(log)["processes"]
    kinds = {
        "dynamo_output_graph": "Captured_Graph.0.py",
        "aot_joint_graph": "Joint_graph.0.py",
        "aot_forward_graph": "Forward_graph.0.py",
        "inductor_output_code": "kernel_0.py",
        "dynamo_cpp_guards_str": "guards.0.txt",
    }
    written = set()
    for compilation in process["compilations"]:
        base = f"compilation_{compilation['id'].replace('/', '_')}"
        page = (tmp_path / "pages" / f"{base}.md").read_text()
        for kind, name in kinds.items():
            payloads = [artifact for artifact in compilation["artifacts"] if artifact["kind"] == kind]
            if not payloads or compilation["attempts"] > 1:
                continue
            start = content.index("\n", payloads[0]["offset"]) + 1
            lines = content[start : start + payloads[0]["size"]].split("\n")
            expected = "\n".join(line.removeprefix("\t") for line in lines)
            assert (tmp_path / "pages" / f"{base}.{name}").read_text() == expected
            assert f"]({base}.{name})" in page
            written.add(kind)
    assert written >= {"dynamo_output_graph", "inductor_output_code", "dynamo_cpp_guards_str"}


@pytest.mark.skipif(not real_logs, reason="the logs of real runs are not at hand")
def test_tables_by_line_of_source_are_made_from_a_log(tmp_path: Path) -> None:
    run("-o", tmp_path / "pages", LOGS / "simple.log")
    tables = (tmp_path / "pages" / "tables.md").read_text()
    line = r"\| test_torchinductor\.py:\d+ `[^`]*` \|"
    assert "### Library calls and fallbacks by line" in tables
    assert re.search(line + r" `torch\.ops\.test\.baz\.default` \| 1 \| 0 \|", tables)
    assert re.search(line + r" `clone f32\[1, 320, 128, 128\]` \| 1 \| 0 \|", tables)
    assert "[tables.md](tables.md)" in (tmp_path / "pages" / "index.md").read_text()


def test_a_cut_log_is_read_to_the_cut_and_the_status_says_so(tmp_path: Path) -> None:
    log = tmp_path / "cut.log"
    log.write_text(record_text('"str": ["a.py", 0]') + record_text('"str": ["b.py", 1]')[:-9])
    done = run("--json", log)
    (process,) = json.loads(done.stdout)["processes"]
    assert done.returncode == 1
    assert process["is_cut"] is True
    assert process["records"] == {"str": 1}
    assert process["problems"][0]["offset"] > log.read_text().index("a.py")


def test_a_session_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for text, message in (
        ("{", "session.json cannot be read"),
        ('{"schema_version": 9}', "has the version 9, and 1 is read"),
    ):
        (tmp_path / "session.json").write_text(text)
        done = run(tmp_path)
        assert done.returncode == 1
        assert message in done.stdout


def log_text(records: int) -> bytes:
    return "".join(record_text(f'"str": ["file {i}.py", {i}]') for i in range(records)).encode()


def without_paths(*paths: object) -> dict:
    (process,) = record_of(*paths)["processes"]
    return {name: value for name, value in process.items() if name != "log"}


def test_a_compressed_log_is_read_as_the_log_itself(tmp_path: Path) -> None:
    text = log_text(2000)
    (tmp_path / "plain.log").write_bytes(text)
    members = gzip.compress(text[:5000]) + gzip.compress(b"") + gzip.compress(text[5000:], compresslevel=1)
    (tmp_path / "members.log.gz").write_bytes(members)
    (tmp_path / "stored.log.gz").write_bytes(gzip.compress(text, compresslevel=0))
    with gzip.GzipFile(tmp_path / "named.log.gz", "wb") as file:  # the header of this .gz contains a file name
        file.write(text)
    plain = without_paths(tmp_path / "plain.log")
    assert plain["records"] == {"str": 2000}
    for name in ("members", "stored", "named"):
        assert without_paths(tmp_path / f"{name}.log.gz") == plain
    assert len(record_of(tmp_path)["processes"]) == 4


def test_a_compressed_log_that_is_cut_is_read_to_the_cut(tmp_path: Path) -> None:
    compressed = gzip.compress(log_text(2000))
    for size in (len(compressed) // 2, len(compressed) - 9, len(compressed) - 3):
        (tmp_path / "cut.log.gz").write_bytes(compressed[:size])
        done = run("--json", tmp_path / "cut.log.gz")
        (process,) = json.loads(done.stdout)["processes"]
        assert done.returncode == 1
        assert process["is_cut"] is True
        assert process["records"]["str"] > 500
        assert "compressed log" in process["problems"][-1]["message"]
        assert process["problems"][-1]["offset"] <= size
    damaged = bytearray(compressed)
    damaged[-6] ^= 1  # in the checksum
    (tmp_path / "cut.log.gz").write_bytes(bytes(damaged) + b"behind")
    assert "its checksum is another" in run(tmp_path / "cut.log.gz").stdout
    (tmp_path / "cut.log.gz").write_bytes(compressed + b"behind")
    done = run(tmp_path / "cut.log.gz")
    assert done.returncode == 1
    assert f"offset {len(compressed)}: " in done.stdout


def test_what_expands_beyond_measure_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bomb.log.gz").write_bytes(gzip.compress(b"\t" * 200_000_000))
    done = run(tmp_path / "bomb.log.gz")
    assert done.returncode == 1
    assert "expands to more than the limit" in done.stdout


def test_text_of_a_log_does_not_act_on_the_terminal(tmp_path: Path) -> None:
    hostile = json.dumps("\x1b[2J</script>\u202e\n")
    members = f'"compilation_metrics": {{"co_name": {hostile}, "co_filename": {hostile}}}, "frame_id": 0, "frame_compile_id": 0'
    (tmp_path / "hostile.log").write_text(record_text(members))
    done = run(tmp_path / "hostile.log")
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    assert r"\x1b[2J" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "no log, directory of logs or dump is given"),
        (["--wrong"], 2, "unknown option --wrong"),
        (["/no/such.log"], 1, "/no/such.log: cannot be read: No such file or directory"),
        (["/dev/null"], 1, "/dev/null: cannot be read: the path is not a regular file"),
    ],
)
def test_mistakes_are_named(arguments: list[str], status: int, message: str) -> None:
    done = run(*arguments)
    assert done.returncode == status
    assert message in done.stderr


def test_help_and_version() -> None:
    assert run("--help").stdout.startswith("usage: depyf-report")
    assert run("--version").stdout.startswith("depyf-report 1.")


@pytest.mark.skipif(not real_logs, reason="the logs of real runs are not at hand")
@pytest.mark.parametrize("log", real_logs, ids=lambda log: log.name)
def test_costs_of_a_log_sum_to_its_time(log: Path) -> None:
    (costs,) = json.loads(run("--costs", "--json", log).stdout)
    assert sum(part["seconds"] for part in costs["parts"]) == pytest.approx(costs["parts_seconds"], abs=1e-6)
    if costs["wall_seconds"]:
        assert run("--costs", log).stdout.startswith("Compiling took ")
    else:
        assert run("--costs", log).stdout == "Nothing was compiled.\n"


def test_costs_go_without_a_directory(tmp_path: Path) -> None:
    done = run("--costs", "-o", tmp_path / "pages", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--costs and -o cannot be used together" in done.stderr
