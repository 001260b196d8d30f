"""Measures how much prepare_debug adds to the compile time of examples/train.py on Inductor; runs with and without it
alternate in one process.

    python bench/prepare_debug.py [ROUNDS] [--cold] [--calls]
    python bench/prepare_debug.py --instructions

A round is three runs: without, with and without prepare_debug, or with, without and with prepare_debug. The program
prints ratios, each the median over the rounds, of a run with a block of prepare_debug to a run without one: the middle
run is compared with the mean of the other two. There is a ratio for the wall time, and one for the processor time of
this process and of the compilers that it starts. With `--cold`, each run has a new cache folder, and so includes the
C++ compiler that compiles Inductor's kernels. Without `--cold`, a run that is not counted has compiled the kernels, so
only the time of PyTorch's Python code is measured, in which depyf's share is largest.

The end of the block, which writes links, index and session, has a row of its own, and is part of the sum. The
difference between two runs of the same kind within a round shows how far the ratios can be trusted. A collection of all
garbage takes a tenth of a run and would happen in an arbitrary run, so the collector is off during the time that is
measured.

Two counts do not depend on the load of the machine: `--calls` counts calls of functions, and `--instructions` counts
instructions in valgrind (12 minutes, 1 GiB; Debian's package valgrind). Work of the operating system's kernel, mostly
the creation of files, is contained in the times, but not in the counts of calls and instructions.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import gc
import io
import os
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import instructions
import processor_time
import torch._dynamo
import torch._functorch.config
import torch._inductor.config
import torch._inductor.utils
from instructions import Marks
from shared_arguments import add_rounds

import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples")]


@dataclass(frozen=True)
class Cost:
    """The cost of one run, in seconds or in calls of functions."""

    wall: float
    processor: float
    end_wall: float = 0
    """The time or calls from the end of the program in the block to the end of the block."""
    end: float = 0


def processor() -> float:
    """Returns the processor time of this process and of its children that have ended, in seconds."""
    return time.process_time() + processor_time.of_children()


@contextlib.contextmanager
def prepared(with_depyf: bool, cold: bool = False) -> Iterator[contextlib.AbstractContextManager[object]]:
    """Clears Dynamo's caches, and yields the context manager for a run: a block of prepare_debug, or an empty one."""
    import depyf

    torch._dynamo.reset()
    gc.collect()
    with contextlib.ExitStack() as stack:
        if cold:
            stack.enter_context(torch._inductor.utils.fresh_cache())
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        thresholds = gc.get_threshold()
        gc.set_threshold(*thresholds[:2], 1_000_000)
        stack.callback(gc.set_threshold, *thresholds)
        yield depyf.prepare_debug(directory) if with_depyf else contextlib.nullcontext()


def run(train, with_depyf: bool, *, cold: bool, calls: bool) -> Cost:
    """Compiles and runs examples/train.py once. Returns the cost of this run."""
    with prepared(with_depyf, cold) as block:
        if calls:
            profile = cProfile.Profile()
            marks = []
            profile.enable()
            with block:
                train.main("inductor")
                profile.disable()
                marks.append(pstats.Stats(profile).total_calls)
                profile.enable()
            profile.disable()
            marks.append(pstats.Stats(profile).total_calls)
            return Cost(marks[0], marks[0], marks[1] - marks[0], marks[1] - marks[0])
        wall, used = time.perf_counter(), processor()
        with block:
            train.main("inductor")
            middle = time.perf_counter(), processor()
        return Cost(middle[0] - wall, middle[1] - used, time.perf_counter() - middle[0], processor() - middle[1])


def count(train, marks: Marks) -> None:
    """Counts, in valgrind, the instructions of a plain run, of a run with a block, and of another plain run."""
    # Inductor must generate only instructions that valgrind can execute.
    torch._inductor.config.cpp.simdlen, torch._inductor.config.cpp.march = 256, "haswell"
    run(train, True, cold=False, calls=False)
    for i, with_depyf in enumerate((False, True, False)):
        with prepared(with_depyf) as block:
            marks.begin()
            with block:
                train.main("inductor")
                marks.counted(f"run {i}")
            marks.counted(f"end {i}")
            marks.end()


def show_instructions() -> None:
    """Counts instructions in another process, under valgrind, and prints the ratios."""
    counts = instructions.count(__file__, "--count")
    plain = (counts["run 0"] + counts["run 2"]) / 2
    print(
        f"instructions: {counts['run 1'] / plain:.4f}, with the end {(counts['run 1'] + counts['end 1']) / plain:.4f} "
        f"(plain {plain / 1e9:.3f} billion, two plain runs {abs(counts['run 2'] - counts['run 0']) / plain:.4f} apart)"
    )


def mean(costs: list[Cost]) -> Cost:
    """Returns the mean cost of runs of the same kind."""
    return Cost(*(statistics.mean(values) for values in zip(*(vars(one).values() for one in costs), strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the time that prepare_debug adds to compiling.")
    add_rounds(parser)
    parser.add_argument("--cold", action="store_true", help="also measure the time of the C++ compiler")
    parser.add_argument("--calls", action="store_true", help="count function calls instead of seconds")
    parser.add_argument("--instructions", action="store_true", help="count instructions in valgrind instead of seconds")
    parser.add_argument("--count", metavar="MARKS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.instructions:
        show_instructions()
        return
    import train

    torch._inductor.config.fx_graph_cache = False
    torch._functorch.config.enable_autograd_cache = False
    torch._dynamo.config.automatic_dynamic_local_pgo = False
    if options.count:
        count(train, Marks(options.count))
        return
    run(train, True, cold=options.cold, calls=False)
    rows: dict[str, list[float]] = {}
    for i in range(options.rounds):
        # Every second round uses prepare_debug in two of the three runs, the other rounds in one.
        order = (True, False, True) if i % 2 else (False, True, False)
        runs: dict[bool, list[Cost]] = {True: [], False: []}
        for with_depyf in order:
            runs[with_depyf].append(run(train, with_depyf, cold=options.cold, calls=options.calls))
        plain, dumped = mean(runs[False]), mean(runs[True])
        first, last = runs[order[0]]
        row = {
            "wall": dumped.wall / plain.wall,
            "wall with the end": (dumped.wall + dumped.end_wall) / plain.wall,
            "processor": dumped.processor / plain.processor,
            "processor with the end": (dumped.processor + dumped.end) / plain.processor,
            "apart": abs(last.processor - first.processor) / first.processor,
        }
        for key, value in row.items():
            rows.setdefault(key, []).append(value)
        print(
            f"round {i + 1}: "
            + ", ".join(f"{key} {value:.3f}" for key, value in row.items())
            + f" (plain {plain.processor:.2f})",
            flush=True,
        )
    print(
        "prepare_debug, medians: " + ", ".join(f"{key} {statistics.median(value):.3f}" for key, value in rows.items())
    )
    print(f"load of the machine: {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
