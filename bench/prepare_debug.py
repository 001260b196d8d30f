"""What prepare_debug adds to the compile time of examples/train.py on Inductor: a ratio, measured in turns in one process.

    python bench/prepare_debug.py [ROUNDS]

One round that is not counted fills the caches of C++ kernels; what Inductor decides is made anew each time. Printed are
the ratios of wall time and of processor time of the process, as medians over the rounds. To be run on a quiet machine.
"""

from __future__ import annotations

import contextlib
import io
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch._dynamo
import torch._functorch.config
import torch._inductor.config

import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples")]


def seconds(train, block) -> tuple[float, float]:
    """Wall and processor seconds of compiling everything once; what a block does at its end is counted too."""
    torch._dynamo.reset()
    wall, processor = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), block:
        train.main("inductor")
    return time.perf_counter() - wall, time.process_time() - processor


def main(rounds: int) -> None:
    import train

    import depyf

    torch._inductor.config.fx_graph_cache = False
    torch._functorch.config.enable_autograd_cache = False
    torch._dynamo.config.automatic_dynamic_local_pgo = False
    walls, processors = [], []
    for i in range(rounds + 1):
        with tempfile.TemporaryDirectory() as directory:
            runs = {}
            # The first of the two has no advantage: they change places.
            for name in ("plain", "dumped") if i % 2 else ("dumped", "plain"):
                block = depyf.prepare_debug(directory) if name == "dumped" else contextlib.nullcontext()
                runs[name] = seconds(train, block)
        if i:
            walls.append(runs["dumped"][0] / runs["plain"][0])
            processors.append(runs["dumped"][1] / runs["plain"][1])
            print(f"round {i}: wall {walls[-1]:.3f}, processor {processors[-1]:.3f}", flush=True)
    print(
        f"prepare_debug: wall {statistics.median(walls):.3f}, processor {statistics.median(processors):.3f} of without"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
