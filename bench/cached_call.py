"""Measures how much slower a cached call is if it runs from dumped files: cached_call.py [BACKEND] [SECONDS]

Two copies of a function are compiled in one process, one of them under prepare_debug, so that it runs from files.
Rounds of calls alternate between the two; the program prints the ratio of the median times, which should be at most
1.02.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time

import depyf
import torch

SOURCE = """
def work(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b
"""
CALLS = 200


def copy():
    table = {"torch": torch}
    exec(compile(SOURCE, "<work>", "exec"), table)
    return table["work"]


def seconds(function, a, b):
    start = time.process_time()
    for _ in range(CALLS):
        function(a, b)
    return time.process_time() - start


def main(backend="eager", limit="20"):
    torch.set_num_threads(1)
    a, b = torch.randn(10), torch.ones(10)
    plain, files = (torch.compile(copy(), backend=backend) for _ in range(2))
    for _ in range(2):
        plain(a, b)
    with tempfile.TemporaryDirectory() as directory, depyf.prepare_debug(directory) as session:
        for _ in range(2):
            files(a, b)
    frames = [frame for frame in session.frames if frame.status == "compiled"]
    if not all(frame.running for frame in frames) or len(frames) != 2:
        print("cached_call: not all of it runs from files", file=sys.stderr)
        return 1
    taken = {plain: [], files: []}
    end = time.monotonic() + float(limit)
    while time.monotonic() < end or len(taken[plain]) < 20:
        order = (plain, files) if len(taken[plain]) % 2 else (files, plain)
        for function in order:
            taken[function].append(seconds(function, a, b))
    per_call = {name: statistics.median(taken[f]) / CALLS * 1e6 for name, f in (("plain", plain), ("files", files))}
    ratio = per_call["files"] / per_call["plain"]
    rounds = len(taken[plain])
    print(
        f"{backend}: {per_call['plain']:.2f} us a call without, {per_call['files']:.2f} us from files: ratio "
        f"{ratio:.4f} ({rounds} rounds of {CALLS} calls each, medians; best rounds {min(taken[files]) / min(taken[plain]):.4f})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
