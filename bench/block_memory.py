"""Bytes that a block of prepare_debug keeps for each compilation while it is open, beyond what plain torch.compile keeps.

    python bench/block_memory.py [COMPILATIONS] [--backend BACKEND] [--top COUNT]

Compiles functions that differ, each called once and dropped, with `torch._dynamo.reset()` and a collection after each.
The memory that Python allocated between the warm-up and the end is then counted by tracemalloc. `--top` lists the lines
that allocated most of it. A block is open for as long as the program runs, so this is what a long program pays; its
limit is in LIMIT.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
import tempfile
import tracemalloc

import torch._dynamo

import depyf
import torch

LIMIT = 40_000
"""The maximal bytes for each compilation of a function with one graph: twice the size of its part of `session.json` and
`full_code`."""
WARM_UP = 10
SOURCE = """
def work_{number}(x):
    y = x.sin() + {number}
    return y * x.cos()
"""


def compile_once(number: int, backend: str) -> None:
    """Compiles a function that differs from those of all other calls, and deletes it."""
    namespace: dict[str, object] = {}
    exec(compile(SOURCE.format(number=number), f"<work {number}>", "exec"), namespace)
    torch.compile(namespace[f"work_{number}"], backend=backend)(torch.ones(4))
    del namespace
    torch._dynamo.reset()
    gc.collect()


def growth(compilations: int, backend: str, with_depyf: bool, top: int = 0) -> float:
    """Returns the bytes per compilation that Python allocated and did not free, with or without a block of
    prepare_debug."""
    with tempfile.TemporaryDirectory() as directory:
        block = depyf.prepare_debug(directory) if with_depyf else contextlib.nullcontext()
        with block:
            for number in range(WARM_UP):
                compile_once(number, backend)
            tracemalloc.start(8 if top else 1)
            try:
                before = tracemalloc.take_snapshot()
                for number in range(WARM_UP, WARM_UP + compilations):
                    compile_once(number, backend)
                after = tracemalloc.take_snapshot()
            finally:
                tracemalloc.stop()
    differences = after.compare_to(before, "lineno")
    for difference in differences[:top]:
        print(f"  {difference.size_diff / compilations:8.0f}  {difference.traceback}")
    return sum(difference.size_diff for difference in differences) / compilations


def main() -> int:
    """Prints the bytes that are kept for each compilation, without and with depyf. Returns 1 if the difference exceeds
    LIMIT."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "compilations", nargs="?", type=int, default=300, help="the number of functions to compile (default: 300)"
    )
    parser.add_argument(
        "--backend", default="aot_eager", help="the backend that compiles the functions (default: aot_eager)"
    )
    parser.add_argument(
        "--top",
        type=int,
        default=0,
        metavar="COUNT",
        help="list the COUNT lines that allocated most of the memory (default: 0)",
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    kept = {}
    for with_depyf in (False, True):
        kept[with_depyf] = growth(options.compilations, options.backend, with_depyf, options.top)
        print(f"{'depyf' if with_depyf else 'plain'}: {kept[with_depyf]:.0f} bytes for each compilation", flush=True)
    extra = kept[True] - kept[False]
    print(f"a block keeps {extra:.0f} bytes more for each compilation; the limit is {LIMIT}")
    return extra > LIMIT


if __name__ == "__main__":
    sys.exit(main())
