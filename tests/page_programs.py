"""Programs and pages that the tests of the report share."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
COMMAND = os.environ.get("DEPYF_REPORT") or str(ROOT / "build" / "dev" / "depyf-report")

# A training step with a graph break, inputs of two sizes and a number that changes, so that the page shows all kinds of
# content.
MODEL = """
import torch


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.inner = torch.nn.Linear(width, 2 * width)
        self.outer = torch.nn.Linear(2 * width, width)

    def forward(self, x):
        h = self.norm(x)
        h = torch.nn.functional.gelu(self.inner(h))
        return x + self.outer(h)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block(16)
        self.scale = 1.0

    def forward(self, x):
        x = self.block(x)
        print("step", tuple(x.shape))
        return x * self.scale


def main():
    net = Net()
    compiled = torch.compile(net)
    for rows, scale in ((8, 1.0), (16, 0.5)):
        net.scale = scale
        compiled(torch.randn(rows, 16)).sum().backward()
"""
BREAK_LINE, GELU_LINE = 26, 14

RUNNER = """
import sys
sys.path[:0] = [sys.argv[1], "."]
import depyf
import model
with depyf.prepare_debug("dump"):
    model.main()
"""


EXAMPLES = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import depyf
import hard
import toy
with depyf.prepare_debug("dump"):
    toy.main()
    hard.main()
"""


def run_examples(folder: Path) -> None:
    """Writes the dump of the examples toy and hard into a folder."""
    arguments = [sys.executable, "-W", "ignore", "-c", EXAMPLES, str(ROOT / "python"), str(ROOT / "examples")]
    environment = {
        **os.environ,
        # A graph from a cache would contain the paths of the copy of the program that filled the cache.
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
        "OMP_NUM_THREADS": "1",
    }
    subprocess.run(arguments, check=True, cwd=folder, env=environment, capture_output=True, timeout=300)


def run_model(folder: Path) -> None:
    """Writes the dump and the TORCH_TRACE log of one run of the model into a folder."""
    (folder / "model.py").write_text(MODEL)
    (folder / "runner.py").write_text(RUNNER)
    environment = {
        **os.environ,
        "TORCH_TRACE": str(folder / "logs"),
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
        "OMP_NUM_THREADS": "1",
    }
    arguments = [sys.executable, "-W", "ignore", "runner.py", str(ROOT / "python")]
    subprocess.run(arguments, check=True, cwd=folder, env=environment, capture_output=True, timeout=300)


TRAIN_RUNNER = """
import sys
sys.path[:0] = [sys.argv[1], "."]
import depyf
import train
with depyf.prepare_debug("dump"):
    train.main()
"""


def run_train(folder: Path) -> None:
    """Writes a copy of the example train.py, and the dump of its run on Inductor, into a folder."""
    shutil.copy(ROOT / "examples" / "train.py", folder / "train.py")
    arguments = [sys.executable, "-W", "ignore", "-c", TRAIN_RUNNER, str(ROOT / "python")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for variable in ("TORCHINDUCTOR_FX_GRAPH_CACHE", "TORCHINDUCTOR_AUTOGRAD_CACHE"):
        environment[variable] = "0"
    subprocess.run(arguments, check=True, cwd=folder, env=environment, capture_output=True, timeout=300)


LINKED_PANES = ("captured", "joint", "fw", "bw", "post", "post-bw", "kernel", "kernel-bw")


def names_by_pane(chains: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Returns the names that provenance.json has for chains, by the pane that shows them."""

    def named(direction: str, stage: str) -> set[str]:
        return {name for chain in chains for name in chain["directions"].get(direction, {}).get(stage, [])}

    return {
        "captured": {chain["node"] for chain in chains},
        "joint": {name for chain in chains for name in chain["joint"]},
        "fw": named("forward", "graph"),
        "bw": named("backward", "graph"),
        "post": named("forward", "post_grad"),
        "post-bw": named("backward", "post_grad"),
        "kernel": named("forward", "kernels"),
        "kernel-bw": named("backward", "kernels"),
    }


def record(members: dict[str, Any], payload: str = "") -> str:
    """Returns one record of a TORCH_TRACE log, of compilation 0/0."""
    head = {**members, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    if payload:
        head["has_payload"] = "0" * 32
    text = f"V1123 02:17:10.130000 4711 torch/a.py:1] {json.dumps(head)}\n"
    return text + "".join(f"\t{line}\n" for line in payload.split("\n") if payload)


def data_of(page: Path) -> dict[str, Any]:
    """Returns the data that a page contains."""
    packed = re.search(
        r'<script type="application/(\w+)" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL
    )
    assert packed
    data: dict[str, Any] = json.loads(
        gzip.decompress(base64.b64decode(packed[2])) if packed[1] == "gzip" else packed[2]
    )
    return data


def write_page(page: Path, *inputs: object) -> str:
    """Writes the page of logs and dumps, and returns the page's text."""
    done = subprocess.run(
        [COMMAND, "-o", str(page), "--force", *map(str, inputs)], capture_output=True, text=True, timeout=60
    )
    assert page.exists(), done.stderr
    return page.read_text(encoding="utf-8")
