"""What prepare_debug adds to the compile time of examples/train.py on Inductor: a ratio, measured in turns in one process.

    python bench/prepare_debug.py [ROUNDS]

One round that is not counted fills the caches of C++ kernels; what Inductor decides is made anew each time. Printed are
the ratios of wall time and of processor time of the process up to the end of the block, as medians over the rounds, and
what the end of the block, where index and provenance are written, takes besides. To be run on a quiet machine.
"""

from __future__ import annotations

import contextlib
import gc
import io
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch._dynamo
import torch._functorch.config
import torch._inductor.config

import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples")]


@dataclass(frozen=True)
class Seconds:
    """What one run took."""

    wall: float
    processor: float
    end: float
    """Processor time from the end of the program in the block to the end of the block."""


def seconds(train, block) -> Seconds:
    """Of compiling everything once."""
    torch._dynamo.reset()
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        with block:
            train.main("inductor")
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            end = time.process_time()
        return Seconds(wall, processor, time.process_time() - end)


def main(rounds: int) -> None:
    import train

    import depyf

    torch._inductor.config.fx_graph_cache = False
    torch._functorch.config.enable_autograd_cache = False
    torch._dynamo.config.automatic_dynamic_local_pgo = False
    walls, processors, ends = [], [], []
    for i in range(rounds + 1):
        with tempfile.TemporaryDirectory() as directory:
            runs = {}
            # The first of the two has no advantage: they change places.
            for name in ("plain", "dumped") if i % 2 else ("dumped", "plain"):
                block = depyf.prepare_debug(directory) if name == "dumped" else contextlib.nullcontext()
                runs[name] = seconds(train, block)
        if i:
            plain, dumped = runs["plain"], runs["dumped"]
            walls.append(dumped.wall / plain.wall)
            processors.append(dumped.processor / plain.processor)
            ends.append(dumped.end / plain.processor)
            print(
                f"round {i}: wall {walls[-1]:.3f}, processor {processors[-1]:.3f} ({dumped.processor:.2f} s of "
                f"{plain.processor:.2f} s), end of the block {ends[-1]:.3f}",
                flush=True,
            )
    print(
        f"prepare_debug: wall {statistics.median(walls):.3f}, processor {statistics.median(processors):.3f} of without; "
        f"besides, the end of the block {statistics.median(ends):.3f}"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
