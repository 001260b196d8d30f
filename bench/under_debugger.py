#!/usr/bin/env python3
"""Measures what the first compilation with Inductor costs under a debugger that is attached from launch, and without
one.

    under_debugger.py [--rounds 3] [--children]

In each round a new process without PyTorch's caches compiles a function, forward and backward: plain, under pdb with a
breakpoint, and under debugpy with a client from the start. The output is the processor time of that process, without
the C++ compiler, as a multiple of the plain run. With --children debugpy also patches child processes, and the client
does not answer for them: PyTorch's probes of the processor then wait until they time out.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/debug", "tests", "python")]

PROGRAM = """
import time
import torch
import torch._inductor.config

torch._inductor.config.force_disable_caches = True


def work(x, w):
    return (torch.softmax(torch.nn.functional.gelu(x @ w), -1) * 3).sum()


x, w = torch.randn(8, 8, requires_grad=True), torch.randn(8, 8, requires_grad=True)
compiled = torch.compile(work)
start = time.process_time()
compiled(x, w).backward()
print("SECONDS", time.process_time() - start, flush=True)
"""


def plain(program: Path) -> str:
    return subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True).stdout


def under_pdb(program: Path) -> str:
    command = [sys.executable, "-m", "pdb", "-c", f"b {program}:10", "-c", "c", "-c", "c", str(program)]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def under_debugpy(program: Path, children: bool) -> str:
    from sessions import Adapter

    with Adapter(str(program), launch=True, children=children) as adapter:
        return adapter.output()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        help="the number of rounds; each round starts a process for each way of running (default: 3)",
    )
    parser.add_argument(
        "--children",
        action="store_true",
        help="let debugpy patch child processes, for which no debugger client answers",
    )
    options = parser.parse_args()
    ways = {
        "plain": plain,
        "pdb": under_pdb,
        "debugpy": lambda program: under_debugpy(program, options.children),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "program.py"
        program.write_text(PROGRAM)
        for _ in range(options.rounds):
            for way, run in ways.items():
                start = time.perf_counter()
                text = run(program)
                found = re.search(r"SECONDS ([\d.]+)", text)
                assert found, text
                seconds[way].append(float(found[1]))
                print(
                    f"{way:8} {seconds[way][-1]:6.2f} s of processor time, {time.perf_counter() - start:6.1f} s in all"
                )
    base = statistics.median(seconds["plain"])
    print(", ".join(f"{way} {statistics.median(values) / base:.2f} x plain" for way, values in seconds.items()))


if __name__ == "__main__":
    main()
