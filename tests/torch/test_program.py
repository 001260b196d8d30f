"""Tests of `depyf run` and `depyf explain`, also with several processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from torch_helpers import ENVIRONMENT, check_dump, empty_inductor_cache, pages, runs_in

SCRIPT = """
import sys
import torch

@torch.compile(backend="eager")
def f(x):
    print("in f")
    return x * 2

if __name__ == "__main__":
    f(torch.ones(3))
    f(torch.ones(4))
    print(sys.argv, __name__, __file__)
    if "raise" in sys.argv:
        raise ValueError("as asked")
    sys.exit(int(sys.argv[1]))
"""


def depyf(*arguments, cwd):
    command = [sys.executable, "-m", "depyf", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


def test_a_program_runs_as_before_and_is_summed_up(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(SCRIPT)
    plain = subprocess.run(
        [sys.executable, str(script), "3", "-o", "x"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    done = depyf("run", "-o", "dump", script, "3", "-o", "x", cwd=tmp_path)
    assert done.returncode == plain.returncode == 3 and done.stdout == plain.stdout
    assert "1 function, 3 compilations, 1 distinct graph break, 1 recompilation" in done.stderr
    assert "break at program.py:7" in done.stderr and "x.shape: expected (3,), was (4,)" in done.stderr
    assert "s spent compiling" in done.stderr and "index.md" in done.stderr
    check_dump(tmp_path / "dump")
    again = depyf("explain", "dump", cwd=tmp_path)
    assert again.returncode == 0
    assert again.stdout.splitlines()[:3] == done.stderr[done.stderr.index("1 process: ") :].splitlines()[:3]


def test_a_program_without_compilations_is_told_so_once(tmp_path):
    script = tmp_path / "eager.py"
    script.write_text("import torch\nprint(torch.ones(2).sum())\n")
    done = depyf("run", script, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("Nothing was compiled in the block") == 1 and "Warning" not in done.stderr


def test_an_exception_and_a_module(tmp_path):
    (tmp_path / "program.py").write_text(SCRIPT)
    failed = depyf("run", "program.py", "raise", cwd=tmp_path)
    assert (
        failed.returncode == 1 and "ValueError: as asked" in failed.stderr and "depyf/program.py" not in failed.stderr
    )
    assert (tmp_path / "depyf_dump" / "index.md").exists()
    module = depyf("run", "-o", "dump", "-m", "program", "0", cwd=tmp_path)
    assert module.returncode == 0 and "'0'] __main__" in module.stdout


def test_wrong_arguments(tmp_path):
    for arguments, told in (
        (("explain", tmp_path), "no dump of depyf"),
        (("run", "nothing.py"), "nothing.py"),
        (("run",), "no program"),
    ):
        done = depyf(*arguments, cwd=tmp_path)
        assert done.returncode != 0 and told in done.stderr
    (tmp_path / "session.json").write_text("{}")
    done = depyf("explain", tmp_path, cwd=tmp_path)
    assert done.returncode == 1 and "cannot be read" in done.stderr


RANKS = """
import sys, os, time
import torch, torch.distributed as dist
import depyf

dist.init_process_group("gloo")
rank = dist.get_rank()

def f(x):
    return x * (rank + 2)

with depyf.prepare_debug(sys.argv[1]):
    y = torch.compile(f, backend="aot_eager")(torch.ones(3))
dist.all_reduce(y)
assert y.tolist() == [5.0] * 3, y
dist.barrier()
# gloo aborts a process whose peer has gone, also within a barrier that the peer has left, or while its own threads end.
open(f"{sys.argv[1]}_left_by_{rank}", "w").close()
while not os.path.exists(f"{sys.argv[1]}_left_by_{1 - rank}"):
    time.sleep(0.01)
os._exit(0)
"""


@pytest.mark.skipif(not __import__("torch").distributed.is_available(), reason="this PyTorch has no distributed")
def test_under_torchrun_each_process_has_its_own_directory(tmp_path):
    script = tmp_path / "ranks.py"
    script.write_text(RANKS)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*torchrun, str(script), str(tmp_path / "dump")],
        env={**ENVIRONMENT, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path / "dump")) == ["rank_0", "rank_1"]
    for rank in range(2):
        directory = tmp_path / "dump" / f"rank_{rank}"
        check_dump(directory)
        (run,) = runs_in(directory)
        (frame,) = run["frames"]
        graph = next(a["file"] for a in frame["artifacts"] if a["kind"] == "Captured_Graph")
        assert f"* {rank + 2}" in (directory / graph).read_text()
    done = depyf("explain", tmp_path / "dump", cwd=tmp_path)
    assert done.stdout.startswith("2 processes: 1 function, 2 compilations")
    assert "== rank 0, " in done.stdout and "== rank 1, " in done.stdout
    assert "rank 1: first differs from rank 0 in compilation 0/0: the captured graph" in done.stdout


ELSEWHERE = """
import sys
import torch
import depyf

def net(x, w):
    return torch.nn.functional.gelu(x @ w).sum()

if __name__ == "__main__":
    with depyf.prepare_debug(sys.argv[1]):
        w = torch.ones(8, 8, requires_grad=True)
        torch.compile(net)(torch.ones(4, 8), w).backward()
"""


@pytest.mark.slow
def test_compilation_in_another_process_names_what_stays_there(tmp_path):
    script = tmp_path / "elsewhere.py"
    script.write_text(ELSEWHERE)
    kinds = {}
    for mode in ("NORMAL", "SUBPROCESS"):
        environment = {
            **ENVIRONMENT,
            "TORCHINDUCTOR_FX_COMPILE_MODE": mode,
            "TORCHINDUCTOR_CACHE_DIR": empty_inductor_cache(tmp_path / f"cache_{mode}"),
            "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        }
        command = [sys.executable, str(script), str(tmp_path / mode)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
        assert done.returncode == 0 and "depyf" not in done.stderr, done.stderr
        check_dump(tmp_path / mode)
        (run,) = runs_in(tmp_path / mode)
        (frame,) = run["frames"]
        assert run["notes"] == []
        kinds[mode] = {(one["kind"], one["direction"]) for one in frame["artifacts"]}
    missing = {(one["kind"], one["direction"]): one["why"] for one in frame["missing"]}
    # The compiling subprocess returns output code and log records, but not the graph that it only traces.
    assert kinds["NORMAL"] - kinds["SUBPROCESS"] == {("BEFORE_POST_GRAD", "forward"), ("BEFORE_POST_GRAD", "backward")}
    assert set(missing) == kinds["NORMAL"] - kinds["SUBPROCESS"] and kinds["SUBPROCESS"] <= kinds["NORMAL"]
    assert all("TORCHINDUCTOR_FX_COMPILE_MODE=NORMAL" in why for why in missing.values())
    (post,) = (tmp_path / "SUBPROCESS").glob("*.AFTER_POST_GRAD.0.py")
    assert "torch.ops.aten" in post.read_text() and "TRACED GRAPH" not in post.read_text()
    data = json.loads((tmp_path / "SUBPROCESS" / "provenance.json").read_text())
    told = data["runs"][0]["compilations"][0]["missing"]
    assert len(told) == 2 and all("in another process" in one for one in told)


CACHED = """
import sys
import torch
import torch._functorch.config
import depyf

torch._functorch.config.bundled_autograd_cache = sys.argv[2] == "AOTAutograd's alone"

def net(x, w):
    h = torch.nn.functional.gelu(x @ w)
    return (h - h.mean()).sum()

with depyf.prepare_debug(sys.argv[1]):
    x = torch.ones(4, 8)
    w = torch.ones(8, 8, requires_grad=True)
    torch.compile(net)(x, w).backward()
"""


@pytest.mark.slow
@pytest.mark.parametrize("caches", ["both", pytest.param("AOTAutograd's alone", marks=pytest.mark.long)])
def test_a_second_process_with_warm_caches_names_each_file_that_the_first_has_more(tmp_path, caches):
    script = tmp_path / "cached.py"
    script.write_text(CACHED)
    environment = {
        **ENVIRONMENT,
        "TORCHINDUCTOR_CACHE_DIR": empty_inductor_cache(tmp_path / "cache"),
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "1",
    }
    for name in ("cold", "warm"):
        command = [sys.executable, str(script), str(tmp_path / name), caches]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0 and "depyf failed" not in done.stderr, done.stderr
        check_dump(tmp_path / name)
    assert (tmp_path / "cache" / "aotautograd").exists()
    assert (tmp_path / "cache" / "fxgraph").exists() == (caches == "both")
    frames = {}
    for name in ("cold", "warm"):
        (run,) = runs_in(tmp_path / name)
        (frames[name],) = run["frames"]
        assert not any("depyf failed" in note for note in run["notes"])
    assert frames["cold"]["missing"] == []
    have = {name: {(one["kind"], one["direction"]) for one in frame["artifacts"]} for name, frame in frames.items()}
    fewer = have["cold"] - have["warm"]
    # The graphs came from the caches; otherwise this test would test nothing.
    assert {("ir_pre_fusion", "forward"), ("ir_pre_fusion", "backward")} <= fewer
    named = {(one["kind"], one["direction"]): one["why"] for one in frames["warm"]["missing"]}
    assert fewer == set(named)
    assert all("came from a cache" in why and "force_disable_caches = True" in why for why in named.values())
    # All files of the cold run other than those reported as missing are in the warm run too, including those of the
    # whole dump.
    lost = {path.name for path in (tmp_path / "cold").iterdir()} - {path.name for path in (tmp_path / "warm").iterdir()}
    lost -= {"provenance.md", "tables.md"}  # provenance.md and tables.md are not written without links
    lost -= {miss["file"] for miss in frames["cold"]["misses"]}  # the keys that the empty cache was asked for
    of_cold = {one["file"]: one["kind"] for one in frames["cold"]["artifacts"]}
    assert {of_cold.get(name, name) for name in lost} == {kind for kind, _ in named}
    data = json.loads((tmp_path / "warm" / "provenance.json").read_text())
    (compilation,) = data["runs"][0]["compilations"]
    # The caches store graphs as text, which lacks the origin of nodes; the dump states that the origins are missing.
    assert [one for one in compilation["chains"] if "gelu" in one["operator"]]
    told = {one.partition(":")[0]: one for one in compilation["missing"]}
    assert set(told) == {"forward", "backward"}
    assert all("came from a cache" in one and "force_disable_caches = True" in one for one in told.values())


def test_profile_of_a_program_as_it_is(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        """
import torch

@torch.compile
def loss(x, weight):
    hidden = torch.relu(x @ weight)
    print(end="")  # the break
    return hidden.square().mean()

weight = torch.randn(256, 256, requires_grad=True)
for _ in range(3):
    value = loss(torch.ones(64, 256), weight)
    value.backward()
print(value.shape)
"""
    )
    done = depyf("run", "--profile", "--report", "-o", "dump", script, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == "torch.Size([])\n"
    for text in ("Compiling took", "keeps for the backward", "Compiled functions ran for", "runs between graphs"):
        assert text in done.stderr
    costs = json.loads((tmp_path / "dump" / "costs.json").read_text())
    texts = {line["line"]["text"] for line in costs["calls"]["lines"]}
    assert {"hidden = torch.relu(x @ weight)", 'print(end="")  # the break'} <= texts
    assert costs["compiling"]["wall_seconds"] > 0 and len(costs["memory"]["graphs"]) == 2
    (guards,) = re.findall(r"## Time of a check of the guards\n.*?\n## ", pages(tmp_path / "dump"), re.DOTALL)
    assert re.search(r"loss \(train\.py:4\)`, 0/0:\n\n +[\d.]+ us per check\n", guards)
    assert re.search(r"[\d.]+ us  L\['weight'\] \(", guards)
    assert costs["compiling"]["parts_seconds"] == pytest.approx(costs["compiling"]["wall_seconds"], rel=0.01)
    assert "depyf" in {part["part"] for part in costs["compiling"]["parts"]}
    check_dump(tmp_path / "dump", beside={"costs.json", "costs.txt", "run_time.json", "report.html"})
    # A page that is written later also shows the times at the lines.
    assert depyf("report", "dump", "-o", "page.html", cwd=tmp_path).returncode == 0
    for page in (tmp_path / "dump" / "report.html", tmp_path / "page.html"):
        assert "run time" in page.read_text()


def test_a_page_shows_the_last_run_of_an_edited_program(tmp_path):
    script = tmp_path / "edited.py"
    for operator in ("sin", "cos"):
        script.write_text(f"import torch\ntorch.compile(lambda x: x.{operator}(), backend='eager')(torch.ones(3))\n")
        assert depyf("run", "-o", "dump", script, cwd=tmp_path).returncode == 0
    assert depyf("report", "dump", "-o", "page.html", cwd=tmp_path).returncode == 0
    page = (tmp_path / "page.html").read_text()
    assert "x.cos()" in page and "x.sin()" not in page
    assert "this is run 2 in this directory" in page
    assert pages(tmp_path / "dump").count("# Run ") == 2  # the index lists both runs
