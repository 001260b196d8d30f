"""Measures what the printers of depyf.printing save of the compile time under prepare_debug, on programs of several
sizes.

    python bench/printing.py [ROUNDS] [--only NAME...]

Each program is compiled three times a round in one process: without a block, under a block of prepare_debug, and under
such a block that leaves all printing to PyTorch (DEPYF_PRINTING=pytorch). The output is the least processor time of
each kind of compilation, without the end of the block, and the share of the plain compilation that the printers save.
The printers are kept as long as they save at least 2 % on one of the programs.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples")]

import torch._dynamo  # noqa: E402
import torch._functorch.config  # noqa: E402
import torch._inductor.config  # noqa: E402
import train  # noqa: E402
from dump_size import transformer  # noqa: E402
from prepare_debug import processor  # noqa: E402
from shared_arguments import add_only, add_rounds  # noqa: E402

import depyf  # noqa: E402
import torch  # noqa: E402
from depyf.printing.hooks import VARIABLE  # noqa: E402

KINDS = ("plain", "depyf", "pytorch")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_rounds(parser)
    add_only(parser, PROGRAMS)
    options = parser.parse_args()
    torch._inductor.config.fx_graph_cache = False
    torch._functorch.config.enable_autograd_cache = False
    torch._dynamo.config.automatic_dynamic_local_pgo = False
    for name in options.only:
        least = measure(PROGRAMS[name], options.rounds)
        saved = (least["pytorch"] - least["depyf"]) / least["plain"]
        seconds = ", ".join(f"{kind} {least[kind]:.2f} s" for kind in KINDS)
        print(f"{name:24} {seconds}; the printers save {100 * saved:.1f} %", flush=True)


def measure(program: Callable[[], object], rounds: int) -> dict[str, float]:
    """Returns the least processor time of a program in seconds for each kind of run (see KINDS)."""
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for kind in KINDS:
        compile_once(program, kind)  # fills the caches of Inductor's C++ kernels and of the printers
    for i in range(rounds):
        for k in range(len(KINDS)):
            kind = KINDS[(i + k) % len(KINDS)]
            seconds[kind].append(compile_once(program, kind))
    return {kind: min(values) for kind, values in seconds.items()}


def compile_once(program: Callable[[], object], kind: str) -> float:
    """Runs a program once, with Dynamo's caches cleared, and returns its processor time in seconds."""
    torch._dynamo.reset()
    os.environ.pop(VARIABLE, None)
    if kind == "pytorch":
        os.environ[VARIABLE] = kind
    gc.collect()
    gc.disable()
    try:
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            with contextlib.nullcontext() if kind == "plain" else depyf.prepare_debug(directory):
                started = processor()
                program()
                return processor() - started
    finally:
        gc.enable()


def transformer_training(layers: int, backend: str) -> Callable[[], object]:
    """Returns a program that compiles a transformer, forward and backward."""

    def program() -> None:
        model, tokens = transformer(layers)
        torch.compile(model, backend=backend)(tokens).sum().backward()

    return program


PROGRAMS: dict[str, Callable[[], object]] = {
    "train, inductor": lambda: train.main("inductor"),
    "train, aot_eager": lambda: train.main("aot_eager"),
    "transformer, inductor": transformer_training(12, "inductor"),
    "transformer, aot_eager": transformer_training(12, "aot_eager"),
}


if __name__ == "__main__":
    main()
