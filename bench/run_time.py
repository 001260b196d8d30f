"""Measures what `depyf.profile` costs: the time of a training step of a transformer in a block, as a multiple of the
time outside, and the share of compiled time that has a line. Steps in the block and outside take turns.

python bench/run_time.py [--layers 12] [--width 256] [--rounds 5]
"""

from __future__ import annotations

import argparse
import statistics
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
    """Runs the command, and returns its exit status: 1 if less than 95 % of the compiled time is attributed to a line
    of source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_transformer(parser)
    parser.add_argument("--rounds", type=int, default=5, help="the number of rounds (default: 5)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # with more threads, waiting threads would add to the processor time
    torch.manual_seed(0)
    model = torch.compile(nn.Sequential(*[sound.Block(arguments.width, 8) for _ in range(arguments.layers)]))
    x = torch.randn(4, arguments.tokens, arguments.width)

    def step() -> float:
        start = time.process_time()
        model(x).square().mean().backward()
        return time.process_time() - start

    step(), step()
    ratios, shares = [], []
    for _ in range(arguments.rounds):
        plain = step()
        with depyf.profile() as costs:
            inside = step()
        ratios.append(inside / plain)
        data = costs.to_dict()
        shares.append(data["with_line_seconds"] / data["inside_seconds"])
    print(costs)
    print(
        f"a step in the block: {statistics.median(ratios):.2f} times a step outside ({min(ratios):.2f} to {max(ratios):.2f})"
    )
    print(f"with a line: {100 * min(shares):.1f} to {100 * max(shares):.1f} % of the time in compiled functions")
    return int(min(shares) < 0.95)


if __name__ == "__main__":
    sys.exit(main())
