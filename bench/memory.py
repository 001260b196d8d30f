"""Peak memory of compiled programs with depyf, in the block and after it, as a multiple of the peak of plain
torch.compile.

    python bench/memory.py [--backend BACKEND ...] [--shape NAME ...] [--random COUNT] [--seed SEED]

Counts the bytes of tensors alive: what PyTorch's CPU allocator hands out and takes back, as its profiler hears of it. The
numbers are exact and the same in each run. Each program is compiled by calls that are not counted. Then one call is
counted, with its backward pass if there are gradients. A process measures plain torch.compile first, then the program
in an open block of prepare_debug, then the code of this block after its end.

A ratio may be 1.02 at most; the exit status is 1 if one is larger.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import io
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from memory_shapes import SHAPES, SIZE, random_program

import depyf
import torch

BACKENDS = ("eager", "aot_eager", "inductor")
LIMIT = 1.02
WARM_UP = 2  # calls that are not counted: the first compiles, the second runs compiled code only


@dataclass(frozen=True)
class Peaks:
    """Bytes of tensors that one call added: at the peak, and at the end of the call."""

    peak: int
    left: int


@dataclass(frozen=True)
class Row:
    """The memory that one program needed with one backend."""

    shape: str
    backend: str
    gradients: bool
    plain: Peaks
    inside: Peaks
    after: Peaks
    frames: int
    """The number of frames that were compiled in the block of prepare_debug."""
    running: int
    """The number of frames that were compiled in the block and run from dumped files."""

    @property
    def ratio(self) -> float:
        """The larger of the peaks in the block and after it, divided by the peak of plain torch.compile."""
        most = max(self.inside.peak, self.after.peak)
        return most / self.plain.peak if self.plain.peak else 1.0

    @property
    def is_right(self) -> bool:
        """True if `ratio` is at most LIMIT, and no more bytes are left after a call than with plain torch.compile."""
        return self.ratio <= LIMIT and max(self.inside.left, self.after.left) <= self.plain.left


def peaks_of(call: Callable[[], object]) -> Peaks:
    """Returns the bytes of tensors that a call adds, at its peak and at its end."""
    gc.collect()
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profiler:
        call()
        gc.collect()
    events = profiler.profiler.kineto_results.events()
    alive = most = 0
    for event in sorted((event for event in events if event.name() == "[memory]"), key=lambda event: event.start_ns()):
        alive += event.nbytes()
        most = max(most, alive)
    return Peaks(most, alive)


def run(compiled: Callable[[torch.Tensor], torch.Tensor], gradients: bool) -> None:
    """Calls a compiled program once, and runs the backward pass if the result requires gradients."""
    x = torch.linspace(-1, 1, SIZE).requires_grad_(gradients)
    with contextlib.nullcontext() if gradients else torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
        result = compiled(x)
        if result.requires_grad:
            result.sum().backward()


def measure(
    shape: str, make: Callable[[], Callable[[torch.Tensor], torch.Tensor]], backend: str, gradients: bool
) -> Row:
    """Measures one program three times: with plain torch.compile, in a block of prepare_debug, and after the block."""

    def compiled() -> tuple[Callable[[], None], object]:
        torch._dynamo.reset()
        torch.manual_seed(0)
        target = make()
        function = torch.compile(target, backend=backend)

        def call() -> None:
            if isinstance(target, torch.nn.Module):
                target.zero_grad(set_to_none=True)
            run(function, gradients)
            if isinstance(target, torch.nn.Module):
                target.zero_grad(set_to_none=True)

        for _ in range(WARM_UP):
            call()
        return call, target

    call, _ = compiled()
    plain = peaks_of(call)
    with tempfile.TemporaryDirectory() as directory:
        with depyf.prepare_debug(directory) as session:
            call, _ = compiled()
            inside = peaks_of(call)
        after = peaks_of(call)
    frames = [frame for frame in session.frames if frame.status == "compiled"]
    running = sum(bool(frame.running) for frame in frames)
    return Row(shape, backend, gradients, plain, inside, after, len(frames), running)


def random_shapes(
    count: int, seed: int, directory: str
) -> dict[str, Callable[[], Callable[[torch.Tensor], torch.Tensor]]]:
    """Writes random programs to modules. Returns the programs that run in eager mode without a NameError."""
    sys.path.insert(0, directory)
    shapes = {}
    for number in range(seed, seed + count):
        (Path(directory) / f"random_{number}.py").write_text(random_program(number), encoding="utf-8")
        importlib.invalidate_caches()
        program = importlib.import_module(f"random_{number}").program
        try:
            with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
                program(torch.linspace(-1, 1, SIZE))
        except (UnboundLocalError, NameError):
            continue
        shapes[f"random {number}"] = lambda program=program: program
    return shapes


def main() -> int:
    """Prints a row for each program, and the programs that need too much memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--backend",
        action="append",
        choices=BACKENDS,
        help="measure only this backend; may be repeated (default: all backends)",
    )
    parser.add_argument(
        "--shape",
        action="append",
        help="measure only the program with this name; may be repeated (default: all programs)",
    )
    parser.add_argument(
        "--random",
        type=int,
        default=0,
        metavar="COUNT",
        help="measure COUNT random programs instead of the fixed programs",
    )
    parser.add_argument("--seed", type=int, default=0, help="the seed of the random programs (default: 0)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    wrong = []
    with tempfile.TemporaryDirectory() as directory:
        shapes = random_shapes(options.random, options.seed, directory) if options.random else SHAPES
        print(f"{'backend':10} {'gradients':9} {'plain':>10} {'block':>6} {'after':>6} {'files':>7}  shape")
        for shape, make in shapes.items():
            if options.shape and shape not in options.shape:
                continue
            for backend in options.backend or BACKENDS:
                for gradients in (False, True):
                    row = measure(shape, make, backend, gradients)
                    inside, after = (part.peak / max(row.plain.peak, 1) for part in (row.inside, row.after))
                    print(
                        f"{backend:10} {gradients!s:9} {row.plain.peak:10} {inside:6.3f} {after:6.3f} "
                        f"{row.running:>3}/{row.frames:<3}  {shape}{'' if row.is_right else '  TOO MUCH'}",
                        flush=True,
                    )
                    if not row.is_right:
                        wrong.append(row)
    print(f"{len(wrong)} of these take more than {LIMIT} x plain, or leave something behind")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
