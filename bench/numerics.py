"""Measures what `depyf.numerics` costs on a transformer, as a multiple of eager: processor time without compiling, and
memory.

python bench/numerics.py [--layers 12] [--width 256] [--backend inductor]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools" / "numerics"))

from shared_arguments import add_transformer  # noqa: E402

import depyf  # noqa: E402
import sound  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402


def main() -> int:
    """Runs the command, and returns its exit status: 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_transformer(parser)
    parser.add_argument(
        "--backend", default="inductor", help="the backend that compiles the transformer (default: inductor)"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # with more threads, waiting threads would add to the processor time
    torch.manual_seed(0)
    model = nn.Sequential(*[sound.Block(arguments.width, 8) for _ in range(arguments.layers)])
    x = torch.randn(4, arguments.tokens, arguments.width)
    seconds = []
    for _ in range(3):  # the first step warms up
        start = time.process_time()
        model(x).square().mean().backward()
        seconds.append(time.process_time() - start)
    report = depyf.numerics(torch.compile(model, backend=arguments.backend), x)
    cost = report.cost
    print(report.verdict)
    time_ratio = cost.measuring_seconds / min(seconds)
    memory_ratio = cost.measuring_bytes / cost.eager_bytes
    print(f"eager, forward and backward: {min(seconds):.2f} s, {cost.eager_bytes / 1e6:.0f} MB")
    print(
        f"measuring: {cost.measuring_seconds:.2f} s ({time_ratio:.1f} x), {cost.measuring_bytes / 1e6:.0f} MB ({memory_ratio:.1f} x)"
    )
    print(f"compiling and the compiled run: {cost.compiling_seconds:.1f} s")
    return int(time_ratio > 10 or memory_ratio > 4)


if __name__ == "__main__":
    sys.exit(main())
