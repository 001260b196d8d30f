"""Measures how much prepare_debug adds to the processor time of eight small programs on aot_eager.

    python bench/small_programs.py [ROUNDS] [--single] [--calls] [--only NAME...] [--profile FILE]
    python bench/small_programs.py --instructions [--only NAME...]

Each program is compiled and run in turns, plain and under a block of prepare_debug. The output is the ratios of the
processor time of this process, without the end of the block and with it, for each program and for all programs
together. By default all runs happen in one process, which has run each program once before the measurement. `--single`
starts a new process for each run, like a user's program, so that work that PyTorch and depyf do once in a process
counts too, except the imports of torch and depyf. `--profile` writes a profile of the runs with depyf.

Two counts do not depend on the load of the machine: `--calls` counts calls of functions, and `--instructions` counts
instructions in valgrind (15 minutes; Debian's package valgrind). Work of the operating system's kernel, mostly the
creation of files, is contained in the times, but not in the counts of calls and instructions.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import gc
import io
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "python")]

import instructions  # noqa: E402
import torch._dynamo  # noqa: E402
from shared_arguments import add_only, add_rounds  # noqa: E402

import depyf  # noqa: E402
import torch  # noqa: E402

Compile = Callable[..., Callable[..., object]]


def toy(compile: Compile) -> None:
    def toy_example(a, b):
        x = a / (torch.abs(a) + 1)
        if b.sum() < 0:
            b = b * -1
        return x * b

    compiled = compile(toy_example)
    for sign in (1, -1):
        compiled(torch.ones(10), sign * torch.ones(10))


def layers(compile: Compile) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    compile(model)(torch.ones(2, 8))


def training(compile: Compile) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    compiled = compile(model)
    for _ in range(2):
        optimizer.zero_grad()
        compiled(torch.ones(2, 8)).square().mean().backward()
        optimizer.step()


def breaks(compile: Compile) -> None:
    def prints(x, n):
        y = x.sin()
        print("a", n)
        y = y + n
        print("b")
        return y * x

    compiled = compile(prints)
    compiled(torch.ones(4), 2)
    compiled(torch.ones(4), 2)


def shapes(compile: Compile) -> None:
    def normalise(x, y):
        return ((x - x.mean(0)) / (x.std(0) + 1)) @ y

    compiled = compile(normalise)
    for size in (3, 4, 5):
        compiled(torch.ones(size, 4), torch.ones(4, size))


def flags(compile: Compile) -> None:
    def choose(x, flag, scale):
        x = x * scale if flag else x - scale
        return torch.where(x > 0, x, x.exp() - 1)

    compiled = compile(choose)
    for flag, scale in ((True, 2.0), (False, 2.0), (True, 3.0)):
        compiled(torch.ones(6), flag, scale)


def containers(compile: Compile) -> None:
    def collect(items, table):
        outputs = {name: [item * value for item in items] for name, value in table.items()}
        return outputs, sum(items), functions_of(items)

    def functions_of(items):
        return [(lambda x, k=k: x * k)(item) for k, item in enumerate(items)]

    compile(collect)([torch.ones(4), torch.ones(4) * 2], {"a": torch.ones(4), "b": torch.zeros(4)})


def attention(compile: Compile) -> None:
    def attend(q, k, v, mask):
        scores = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        return torch.softmax(scores.masked_fill(mask, float("-inf")), -1) @ v

    q = torch.ones(2, 4, 8, requires_grad=True)
    compile(attend)(q, torch.ones(2, 4, 8), torch.ones(2, 4, 8), torch.ones(4, 4).triu(1).bool()).sum().backward()


PROGRAMS = {
    function.__name__: function for function in (toy, layers, training, breaks, shapes, flags, containers, attention)
}


@contextlib.contextmanager
def prepared(with_depyf: bool) -> Iterator[contextlib.AbstractContextManager[object]]:
    """Clears Dynamo's caches, collects garbage, and yields the context manager for a run: a block of prepare_debug, or
    an empty one."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    gc.collect()
    gc.disable()
    with contextlib.ExitStack() as stack:
        stack.callback(gc.enable)
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        yield depyf.prepare_debug(directory) if with_depyf else contextlib.nullcontext()


def on_aot_eager(function: Callable[..., object]) -> Callable[..., object]:
    """Compiles a function for the backend aot_eager, which the programs use."""
    return torch.compile(function, backend="aot_eager")


def run(
    program: Callable[[Compile], None], with_depyf: bool, profile: cProfile.Profile | None = None
) -> tuple[float, float]:
    """Returns (the cost of one run, the cost of the end of its block), in seconds of processor time, or in calls of
    functions if `profile` is given."""

    def now() -> float:
        if profile is None:
            return time.process_time()
        profile.disable()
        calls = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
        profile.enable()
        return calls

    with prepared(with_depyf) as block, contextlib.ExitStack() as stack:
        if profile is not None:
            profile.enable()
            stack.callback(profile.disable)
        start = now()
        with block:
            program(on_aot_eager)
            middle = now()
        end = now()
    return middle - start, end - middle


def single(name: str, with_depyf: bool) -> tuple[float, float]:
    """Returns the result of `run` for a program in a process of its own."""
    command = [sys.executable, __file__, "--child", name, "depyf" if with_depyf else "plain"]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    cost, end = json.loads(done.stdout.splitlines()[-1])
    return cost, end


def calls(name: str, with_depyf: bool) -> tuple[float, float]:
    """Returns the result of `run` for a program in calls of functions."""
    return run(PROGRAMS[name], with_depyf, cProfile.Profile())


def count(names: list[str], marks: instructions.Marks) -> None:
    """Counts, in valgrind, the instructions of each program, plain and with a block, after both have run once."""
    for name in names:
        run(PROGRAMS[name], True)
        run(PROGRAMS[name], False)
        for with_depyf in (False, True):
            with prepared(with_depyf) as block:
                marks.begin()
                with block:
                    PROGRAMS[name](on_aot_eager)
                    marks.counted(f"{name} {with_depyf} run")
                marks.counted(f"{name} {with_depyf} end")
                marks.end()


def show_instructions(names: list[str]) -> None:
    """Counts instructions in another process, under valgrind, and prints the ratios."""
    counts = instructions.count(__file__, "--only", *names, "--count")
    cost = {
        (name, with_depyf): (counts[f"{name} {with_depyf} run"], counts[f"{name} {with_depyf} end"])
        for name in names
        for with_depyf in (False, True)
    }
    for name in names:
        print(f"{name:12}", *ratios([cost[name, False]], [cost[name, True]]))
    sums = {kind: tuple(map(sum, zip(*(cost[name, kind] for name in names), strict=True))) for kind in (False, True)}
    print(f"{'all':12}", *ratios([sums[False]], [sums[True]]))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures what prepare_debug adds to small programs on aot_eager.")
    add_rounds(parser)
    parser.add_argument("--single", action="store_true", help="execute each run in a separate process")
    parser.add_argument("--calls", action="store_true", help="count function calls instead of seconds")
    parser.add_argument("--instructions", action="store_true", help="count instructions in valgrind instead of seconds")
    add_only(parser, PROGRAMS)
    parser.add_argument(
        "--profile", metavar="FILE", help="write a profile of the runs with depyf to FILE, and measure nothing else"
    )
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--count", metavar="MARKS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.instructions:
        show_instructions(options.only)
        return
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    if options.child:
        name, kind = options.child
        print(json.dumps(run(PROGRAMS[name], kind == "depyf")))
        return
    if options.count:
        count(options.only, instructions.Marks(options.count))
        return
    measure = single if options.single else calls if options.calls else lambda name, kind: run(PROGRAMS[name], kind)
    if not options.single:
        for name in options.only:
            run(PROGRAMS[name], True)
    if options.profile:
        profile = cProfile.Profile(time.process_time)
        for _ in range(options.rounds):
            for name in options.only:
                run(PROGRAMS[name], True, profile)
        profile.dump_stats(options.profile)
        return
    totals: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    by_name: dict[tuple[str, bool], list[tuple[float, float]]] = {}
    for round_ in range(options.rounds):
        sums = {True: [0.0, 0.0], False: [0.0, 0.0]}
        for name in options.only:
            for with_depyf in (True, False) if round_ % 2 else (False, True):
                cost = measure(name, with_depyf)
                by_name.setdefault((name, with_depyf), []).append(cost)
                sums[with_depyf] = [sums[with_depyf][0] + cost[0], sums[with_depyf][1] + cost[1]]
        for with_depyf, (cost_sum, end_sum) in sums.items():
            totals[with_depyf].append((cost_sum, end_sum))
    for name in options.only:
        print(f"{name:12}", *ratios(by_name[name, False], by_name[name, True]))
    print(f"{'all':12}", *ratios(totals[False], totals[True]))
    print(f"load of the machine: {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors")


def ratios(plain: list[tuple[float, float]], watched: list[tuple[float, float]]) -> tuple[str, str, str]:
    """Returns texts: the ratios of the median costs with depyf to plain ones, without and with the end of the block,
    and the cost of the plain run."""
    cost = statistics.median(cost for cost, _ in plain)
    in_block = statistics.median(cost for cost, _ in watched)
    in_all = statistics.median(cost + end for cost, end in watched)
    return f"{in_block / cost:.3f}", f"with the end {in_all / cost:.3f}", f"(plain {cost:.3f})"


if __name__ == "__main__":
    main()
