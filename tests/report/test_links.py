"""Compares the links of source lines to kernels that depyf-report derives from a TORCH_TRACE log with those that depyf
saw in the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")
sys.path.insert(0, str(ROOT / "tools"))

import links  # noqa: E402  # the comparison of `make links`

PROGRAM = """
import torch
import depyf

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.inner = torch.nn.Linear(8, 16)
        self.outer = torch.nn.Linear(16, 8)
    def forward(self, x):
        h = self.norm(x)
        h = torch.nn.functional.gelu(self.inner(h))
        return x + self.outer(h)

def broken(x, n):
    x = x * n
    print("a break")
    return x + 1

with depyf.prepare_debug("dump"):
    torch.compile(Block())(torch.randn(4, 8)).sum().backward()
    compiled = torch.compile(broken, backend="eager")
    compiled(torch.ones(2), 2)
    compiled(torch.ones(2), 3)
"""
GELU = 13


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder with a log and a dump of the same run of a program."""
    folder = tmp_path_factory.mktemp("links")
    (folder / "program.py").write_text(PROGRAM)
    environment = {
        **os.environ,
        "TORCH_TRACE": str(folder / "logs"),
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        "OMP_NUM_THREADS": "1",
    }
    subprocess.run([sys.executable, "program.py"], check=True, cwd=folder, env=environment, timeout=300)
    return folder


@pytest.fixture(scope="module")
def seen(folder: Path) -> tuple[dict, dict]:
    """Returns (the log's record of a layer that was trained for one step, the record in depyf's provenance.json)."""
    compilation = links.record_of(folder / "logs")["compilations"][0]
    dumped = json.loads((folder / "dump" / "provenance.json").read_text())["runs"][0]["compilations"][0]
    return compilation, dumped


def test_a_line_leads_to_its_forward_and_its_backward_kernel(seen: tuple[dict, dict]) -> None:
    (gelu,) = [chain for chain in seen[0]["chains"] if chain["operator"].endswith("gelu")]
    assert gelu["place"]["line"] == GELU
    assert gelu["place"]["file"].endswith("program.py")
    forward, backward = gelu["directions"]["forward"], gelu["directions"]["backward"]
    for direction in (forward, backward):
        (kernel,) = direction["kernels"]
        assert kernel.startswith("cpp_fused") and "gelu" in kernel
    assert forward["kernels"] != backward["kernels"]


def test_every_call_has_a_line(seen: tuple[dict, dict]) -> None:
    calls = [call for code in seen[0]["output_codes"] for call in code["calls"]]
    assert {code["direction"] for code in seen[0]["output_codes"]} == {"forward", "backward"}
    assert len(calls) > 6
    assert [call for call in calls if not call["places"]] == []
    assert {place["line"] for call in calls for place in call["places"]} == {GELU - 1, GELU, GELU + 1}


def test_the_module_of_a_layer_is_named(seen: tuple[dict, dict]) -> None:
    modules = {chain["node"]: chain["module"] for chain in seen[0]["chains"]}
    assert {"norm", "inner", "outer"} <= set(modules.values())


def test_chains_are_those_that_depyf_saw_in_the_process(seen: tuple[dict, dict]) -> None:
    """Tests that the chains of the log and of depyf's dump are equal, which holds for a program that sums no
    gradients."""
    logged, dumped = ({chain["node"]: chain for chain in one["chains"]} for one in seen)
    assert list(logged) == list(dumped)
    differences = []
    for node, chain in dumped.items():
        assert logged[node]["operator"] == chain["operator"]
        assert logged[node]["place"]["line"] == chain["line"]["line"]
        for direction in ("forward", "backward"):
            here, there = (one["directions"].get(direction, {}) for one in (logged[node], chain))
            differences += [
                (node, direction, stage, here.get(stage), there.get(stage))
                for stage in ("graph", "post_grad", "kernels")
                if set(here.get(stage, ())) != set(there.get(stage, ()))
            ]
    assert differences == []


def test_the_models_of_the_log_and_of_the_dump_agree(folder: Path) -> None:
    logged, dumped = links.record_of(folder / "logs"), links.record_of(folder / "dump")
    assert links.model_differences(logged, dumped) == []
    facts = [links.facts_of(compilation) for compilation in dumped["compilations"]]
    assert [graph for graph in facts[0] if graph.startswith("graph")]
    assert any(fact["breaks"] for fact in facts) and any(fact["refused by"] == ["1/0"] for fact in facts)
    # The comparison must notice a changed operator and missing graph breaks.
    dumped["compilations"][0]["graphs"][0]["nodes"][-1]["operator"] = "another"
    dumped["compilations"][1]["breaks"] = []
    assert len(links.model_differences(logged, dumped)) == 2


def test_a_dump_alone_has_the_same_links(folder: Path) -> None:
    logged, dumped = (links.record_of(folder / name)["compilations"][0] for name in ("logs", "dump"))
    linked = [
        [
            {direction: [sorted(link[stage]) for stage in ("graph", "post_grad", "kernels")]}
            for chain in record["chains"]
            for direction, link in sorted(chain["directions"].items())
        ]
        for record in (logged, dumped)
    ]
    assert linked[0] == linked[1] != []
    done = subprocess.run([COMMAND, str(folder / "dump")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "Block.forward (program.py:" in done.stdout
    assert "broken, resumed (program.py:" in done.stdout


def test_the_journal_of_a_process_that_died_is_read(folder: Path, tmp_path: Path) -> None:
    program = """
import os
import torch
import depyf

def doubled(x):
    return x * 2

with depyf.prepare_debug("dump"):
    torch.compile(doubled, backend="eager")(torch.ones(2))
    os._exit(3)
"""
    (tmp_path / "program.py").write_text(program)
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=False, timeout=120)
    done = subprocess.run([COMMAND, "--json", str(tmp_path / "dump")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    (process,) = json.loads(done.stdout)["processes"]
    assert process["is_cut"] and process["pid"] and process["torch_version"]
    assert "the block did not end" in process["problems"][0]["message"]
    (compilation,) = process["compilations"]
    assert (compilation["place"]["function"], compilation["place"]["line"]) == ("doubled", 6)
    assert compilation["status"] == "compiled"
