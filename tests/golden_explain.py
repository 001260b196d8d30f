"""Writes the golden files of `depyf.explain`: `python tests/golden_explain.py`. Read the changes before you commit.

With a directory as its argument, the program writes the files into it. The files belong to one release of PyTorch and
of CPython, which their first line names. Addresses, ids and times are replaced by fixed texts.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).parent / "torch" / "golden"
ROOT = Path(__file__).parents[1]


def normalised(text: str) -> str:
    """Returns the text without parts that differ between runs or machines."""
    text = re.sub(r"took \d+\.\d+ s", "took T s", text)
    text = re.sub(r"(\bid\(.*?\) == |hooks\(\)\)\) == )(?:\d+|\([\d, ]+\))", r"\1<id>", text)
    text = re.sub(r"\b0x[0-9a-f]{6,}\b", "0x...", text)
    text = text.replace(f"{ROOT}{os.sep}", "")
    return re.sub(r"\S*/site-packages/", "", text)


def toy():
    import torch
    from torch_helpers import example

    module = example("toy")
    module.main("eager")
    del torch
    return module.toy_example


def train():
    import torch
    from torch_helpers import example

    net = example("train").Net()
    compiled = torch.compile(net, backend="eager")
    for i, batch in enumerate([8, 16, 24, 32, 8]):
        if i == 4:
            net.scale = 0.5
        compiled(torch.randn(batch, 64))
    return compiled


def recompiled():
    import torch

    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)
            self.scale = 2

        def forward(self, x):
            return self.linear(x) * self.scale

    module = Scaled()
    compiled = torch.compile(module, backend="eager", dynamic=False)
    compiled(torch.ones(2, 4))
    module.scale = 3
    compiled(torch.ones(2, 4))
    compiled(torch.ones(5, 4))
    return compiled


CASES = [toy, train, recompiled]


def write(directory: Path) -> None:
    import contextlib
    import io
    import platform

    import torch._dynamo

    import depyf
    import torch

    directory.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        torch._dynamo.reset()
        torch.manual_seed(0)
        with (
            tempfile.TemporaryDirectory() as dump,
            torch._dynamo.config.patch(automatic_dynamic_local_pgo=False),
            contextlib.redirect_stdout(io.StringIO()),
            depyf.prepare_debug(dump),
        ):
            compiled = case()
            text = str(depyf.explain(compiled))
        head = (
            f"PyTorch {torch.__version__.partition('+')[0]}, CPython {platform.python_version().rpartition('.')[0]}\n"
        )
        (directory / f"{case.__name__}.txt").write_text(head + normalised(text), encoding="utf-8")


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).parent)]
    os.environ["OMP_NUM_THREADS"] = "1"
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else GOLDEN)
