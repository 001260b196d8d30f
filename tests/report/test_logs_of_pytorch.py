"""Tests of how depyf-report reads logs that PyTorch writes under TORCH_TRACE."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")

PROGRAM = """
import os
import torch

def doubled(x, n):
    x = x * n
    print("a break")
    return x + 1

compiled = torch.compile(doubled, backend="eager")
compiled(torch.ones(2), 2)
compiled(torch.ones(2), 3)
child = os.fork()
if child == 0:
    torch.compile(lambda x: x - 1, backend="eager")(torch.ones(3))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
dist.init_process_group("fake", store=FakeStore(), rank=3, world_size=4)
compiled(torch.ones(5), 3)
"""


AHEAD_OF_TIME = """
import torch
import torch._inductor.codecache

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(8, 16)
    def forward(self, x):
        h = self.inner(x)
        return torch.nn.functional.gelu(h).sum(1)

def doubled(x, y):
    return torch.nn.functional.gelu(x * 2) + y

inputs = (torch.ones(4), torch.ones(4))
torch.compile(doubled, fullgraph=True, backend="eager")(*inputs)
# All of AOTInductor but the C++ compiler, which takes most of a minute.
torch._inductor.codecache.AotCodeCompiler.compile = classmethod(lambda *arguments, **options: "no_library.so")
with torch.no_grad():
    exported = torch.export.export(Net(), (torch.randn(4, 8),))
    torch._inductor.aot_compile(exported.module(), (torch.randn(4, 8),))
if hasattr(torch.compile(doubled), "aot_compile"):
    torch.compile(doubled, fullgraph=True).aot_compile((inputs, {}))
torch.compile(doubled, fullgraph=True, backend="eager")(torch.ones(5), torch.ones(5))
"""


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """Returns the processes of a program that compiles, forks, and gets its rank after its first compilation."""
    return processes_of(PROGRAM, tmp_path_factory.mktemp("trace"))


def processes_of(program: str, folder: Path) -> list[dict]:
    """Returns the processes in the log of a program."""
    script = folder / "program.py"
    script.write_text(program)
    environment = {**os.environ, "TORCH_TRACE": str(folder / "logs"), "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, str(script)], check=True, env=environment, capture_output=True, timeout=120)
    done = subprocess.run([COMMAND, "--json", str(folder / "logs")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[:2000]
    return json.loads(done.stdout)["processes"]


def parent_of(processes: list[dict]) -> dict:
    (parent,) = [process for process in processes if process["rank"] == 3]
    return parent


def test_a_rank_that_is_known_late_is_the_rank_of_the_process(processes: list[dict]) -> None:
    assert len(processes) == 2
    assert parent_of(processes)["torch_version"]


def test_functions_breaks_and_reasons_are_those_of_the_program(processes: list[dict]) -> None:
    compilations = {compilation["id"]: compilation for compilation in parent_of(processes)["compilations"]}
    first, again = compilations["0/0"], compilations["0/1"]
    assert (first["place"]["function"], first["place"]["line"]) == ("doubled", 5)
    assert first["place"]["file"].endswith("program.py")
    assert [graph_break["place"]["line"] for graph_break in first["breaks"]] == [7]
    assert "print" in first["breaks"][0]["explanation"]
    assert not first["reasons"]
    assert again["reasons"][0]["compilation"] == "0/0"
    assert "n" in again["reasons"][0]["guard"]
    assert {compilation["status"] for compilation in compilations.values()} == {"compiled"}


def test_a_forked_childs_files_are_unknown_or_right(processes: list[dict]) -> None:
    (child,) = [process for process in processes if process["rank"] is None]
    assert child["unknown_strings"] > 0
    (compilation,) = child["compilations"]
    # the name comes from the metrics record, which contains it as text
    assert compilation["place"]["function"] == "<lambda>"
    assert compilation["place"]["file"].endswith("program.py")
    assert {frame["file"] for frame in compilation["called_from"]} == {None}


def test_the_self_times_of_a_compilation_sum_to_its_time(processes: list[dict]) -> None:
    for compilation in parent_of(processes)["compilations"]:
        own = sum(phase["self_us"] for phase in compilation["phases"] if not phase["is_parallel"]) / 1e6
        assert own == pytest.approx(compilation["seconds"], rel=0.1, abs=0.02)


def test_compilations_ahead_of_time_are_compilations_of_their_own(tmp_path: Path) -> None:
    (process,) = processes_of(AHEAD_OF_TIME, tmp_path)
    first, exported, *others = process["compilations"]
    assert first["id"] == "0/0" and first["place"]["function"] == "doubled"
    # AOTInductor records no id and no function, so the place is the line in the user's file, not in PyTorch's module.
    assert exported["is_own_id"] and exported["status"] == "compiled"
    assert exported["place"]["text"] == "return torch.nn.functional.gelu(h).sum(1)"
    assert exported["place"]["file"].endswith("program.py") and exported["place"]["function"] == "forward"
    phases = {phase["name"]: phase for phase in exported["phases"]}
    assert exported["seconds"] == pytest.approx(phases["compile_fx_aot"]["total_us"] / 1e6)
    assert {"fx_graph_runnable", "inductor_post_grad_graph"} <= {text["name"] for text in exported["artifacts"]}
    assert {text["name"] for text in process["artifacts"]} <= {"torch_version"} and process["phases"] == []
    if len(others) > 1:  # torch.compile(...).aot_compile, since 2.9
        ahead = others.pop(0)
        assert ahead["status"] == "compiled" and ahead["place"]["function"] == "doubled"
        assert [kernel["calls"] for kernel in ahead["kernels"]] == [1]
    (again,) = others
    assert again["id"] == "0/1" and again["reasons"][0]["compilation"] == "0/0"
