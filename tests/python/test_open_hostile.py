"""`depyf open` of files that do harm where they are unpickled: nothing runs, and memory and time are bounded."""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import hostile_pickles
from depyf import _core

ROOT = Path(__file__).parents[2]
MEMORY_MAX = 600 << 10
"""The memory in KiB that a process may use to read all of the files, one after the other. The largest input that is
read is 10 MB."""

# Opens each file in a process in which importing torch fails, and prints the result.
OPENER = """
import json, resource, sys, time
sys.modules["torch"] = None
from depyf import _core
results = {}
for name in json.load(sys.stdin):
    start = time.perf_counter()
    text, errors, whole = _core.open_artifact(name, [], False)
    _core.open_artifact(name, [], True)
    results[name] = (text[:2000], errors, whole, time.perf_counter() - start)
modules = [name for name in ("os.path", "antigravity", "subprocess") if name in sys.modules]
json.dump([results, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, modules], sys.stdout)
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    canary = folder / "canary"
    kinds = hostile_pickles.all_kinds(canary)
    paths = {}
    for number, (name, content) in enumerate(kinds.items()):
        path = folder / f"{number}.bin"
        path.write_bytes(content)
        paths[name] = str(path)
    done = subprocess.run(
        [sys.executable, "-c", OPENER],
        input=json.dumps(list(paths.values())),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        check=True,
        timeout=300,
    )
    results, memory, modules = json.loads(done.stdout)
    return kinds, {name: results[path] for name, path in paths.items()}, memory, modules, canary


def test_the_kinds_are_harmful_where_they_are_unpickled(tmp_path):
    canary = tmp_path / "canary"
    kinds = hostile_pickles.running_code(canary)
    assert len(kinds) >= 50
    harmful = [
        name for name in kinds if name.startswith(("system", "eval", "exec", "open", "nested", "instance", "object"))
    ]
    for name in harmful[:8]:
        pickle.loads(kinds[name])
        assert canary.exists(), name
        canary.unlink()


def test_nothing_runs(opened):
    kinds, results, _, modules, canary = opened
    assert len(kinds) >= 80
    assert not canary.exists()
    assert "antigravity" not in modules
    assert "subprocess" not in modules
    assert set(results) == set(kinds)


def test_memory_and_time_are_bounded(opened):
    _, results, memory, _, _ = opened
    assert memory < MEMORY_MAX
    assert not {name: seconds for name, (*_, seconds) in results.items() if seconds > 20}


def test_what_would_run_is_named(opened):
    _, results, _, _, canary = opened
    text = results["system, protocol 4"][0]
    assert f"posix.system('touch {canary}')" in text
    assert "calls posix.system" in text
    assert "imports antigravity.fly" in results["import alone"][0]
    assert "calls posix.system" in results["guards of an artifact"][0]


def test_what_cannot_be_read_is_said_with_its_place(opened):
    _, results, _, _, _ = opened
    for name in hostile_pickles.broken():
        text, _, whole, _ = results[name]
        assert not whole, name
        assert "at byte " in text, name
    assert "truncated: 18446744073709551615 bytes are announced" in results["string of 16 EiB"][0]
    assert "limit of 4000000" in results["ten million lists"][0]
    assert "the file contains [...]" in results["recursive"][0]


def test_guards_that_are_shown_do_nothing_else(tmp_path):
    """Running the shown guards executes conditions and no other text of the file."""
    canary = tmp_path / "canary"
    harm = f"open({str(canary)!r}, 'w')"
    words = [
        [harm],
        [f"L['x'] == {harm}"],
        ["L['x'] == 1", f"1\n{harm}\n"],
        ["L['x'] == 1", f"1 # \n{harm}"],
        [f"L['x'] == 1\r{harm}"],
        [f"___check_type_id(L['x'], 94), type=<class 'torch.{harm}'>"],
        [f"___check_type_id({harm}, 94), type=<class 'dict'>"],
        ["f'{" + harm + "}'"],
        ["L['x'] == 'abc'"],
    ]
    for line in (f"x\n{harm}", f"x\r{harm}\u2028{harm}", harm):
        path = tmp_path / "artifact"
        path.write_bytes(hostile_pickles.artifact_with_guards(words, line))
        text, _, whole = _core.open_artifact(str(path), [], True)
        (part,) = json.loads(text)["artifacts"][0]["parts"]
        assert whole
        assert len(part["guards"]) == len(words)
        source = part["guard_source"]
        tree = ast.parse(source)
        assert "'abc'" in source
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert called <= {"torch._C.DisableTorchFunction", "type"}, called
    assert not canary.exists()
