"""Ten planted faults, each given to `depyf.numerics`, to PyTorch's compiler_bisector and to its DebugMode: the parts
that each names, and the number of runs of the program that it needs.

python tools/numerics/peers.py [--count 10] [--verbose]

The table is printed as Markdown; docs/numerics.md shows it. The bisector gets what its documentation asks for: a function that
compiles the program anew and says whether the result is close to eager's. DebugMode logs hashes of all values of two runs, of eager
and of the compiled program, and compares them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any

from torch._inductor.compiler_bisector import CompilerBisector
from torch.utils._debug_mode import DebugMode

import faults
import planted
import torch

CHOSEN = [
    "mean is scaled",
    "sum in half precision",
    "exp in C++",
    "gelu by tanh",
    "layer_norm with another eps",
    "gelu_backward without its second term",
    "post-grad pass swaps sub",
    "joint pass changes a scalar",
    "a pass drops copies into inputs",
    "another offset of a kernel's input",
]


def results(program: Callable[..., Any], inputs: tuple[Any, ...]) -> list[Any]:
    """Calls a program on copies of its inputs. Returns the results, the copies, which it may have changed, and their
    gradients."""
    copies = [value.detach().clone().requires_grad_(value.requires_grad) for value in inputs]
    outputs = program(*copies)
    outputs = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    roots = [value for value in outputs if value.requires_grad]
    if roots:
        sum(value.double().square().sum() for value in roots).backward()
    gradients = [copy.grad for copy in copies if copy.grad is not None]
    return [value.detach() for value in [*outputs, *copies, *gradients]]


def is_close(fault: faults.Fault, inputs: tuple[Any, ...], expected: list[Any]) -> bool:
    torch._dynamo.reset()
    got = results(torch.compile(fault.program), inputs)
    try:
        torch.testing.assert_close(got, expected)  # with the default tolerances, as in PyTorch's own tests
    except AssertionError:
        return False
    return True


def bisected(fault: faults.Fault) -> tuple[int, str]:
    """Returns (how often compiler_bisector compiled and ran the program, the text of its verdict)."""
    torch.manual_seed(0)
    inputs, runs = fault.inputs(), 0
    expected = results(fault.program, inputs)

    def is_right() -> bool:
        nonlocal runs
        runs += 1
        return is_close(fault, inputs, expected)

    with fault.plant(), contextlib.redirect_stdout(io.StringIO()):
        try:
            result = CompilerBisector.do_bisect(is_right)
        except Exception as error:
            return runs, f"raises {type(error).__name__}"
    if result is None:
        return runs, "nothing"
    parts = [result.backend, result.subsystem, result.bisect_number and str(result.bisect_number), result.debug_info]
    return runs, ", ".join(part for part in parts if part)


def hashed(fault: faults.Fault) -> str:
    """Returns a text about the first value whose hashes in DebugMode's logs of the eager and the compiled run
    differ."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    inputs = fault.inputs()
    logs = []
    with fault.plant():
        for program in (fault.program, torch.compile(fault.program)):
            results(program, inputs)  # compiles the program before the log begins
            with DebugMode(run_compile_with_interpreter=True) as mode, DebugMode.log_tensor_hashes():
                results(program, inputs)
            logs.append(mode.logs)
    try:
        different = DebugMode.check_hash_mismatches(*logs)
    except ValueError as error:
        return f"refuses: {str(error).splitlines()[0]}"
    return str(different[0]["call"]) if different else "nothing"


def main() -> int:
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--count", type=int, default=len(CHOSEN), help="use only this number of faults (default: all faults)"
    )
    parser.add_argument("--verbose", action="store_true", help="print all reports of depyf.numerics")
    arguments = parser.parse_args()
    torch._inductor.config.force_disable_caches = True
    print("| planted fault | `depyf.numerics`: 2 runs | `compiler_bisector` | DebugMode's hashes, 2 runs |")
    print("|---|---|---|---|", flush=True)
    named = 0
    for name in CHOSEN[: arguments.count]:
        fault = next(each for each in faults.FAULTS if each.name == name)
        outcome = planted.judge(fault)
        named += outcome.is_named and outcome.is_line_named
        runs, words = bisected(fault)
        ours = (
            "stage, operator and line"
            if outcome.is_line_named
            else "stage and operator"
            if outcome.is_named
            else "nothing"
        )
        print(f"| {name} | {ours} | {runs} runs: {words} | {hashed(fault)} |", flush=True)
        if arguments.verbose:
            print(outcome.text, flush=True)
    return int(named < min(arguments.count, len(CHOSEN)))


if __name__ == "__main__":
    sys.exit(main())
