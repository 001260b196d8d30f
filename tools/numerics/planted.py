"""Plants faults in PyTorch's compiler, one after the other, and counts those that `depyf.numerics` names.

python tools/numerics/planted.py [--only WORD] [--verbose]
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import time
from dataclasses import dataclass
from typing import Any

import faults
import torch
from depyf.numerical import measure


@dataclass(frozen=True)
class Outcome:
    """Whether the verdict of `depyf.numerics` names the planted fault, with the text of the verdict."""

    is_named: bool
    """True if the verdict names the stage and the operator of the fault."""
    is_line_named: bool
    text: str
    reproduction: str = ""
    measurements: tuple[dict[str, Any], ...] = ()
    """The measured errors of each line, as dicts like those in depyf's record."""


def judge(fault: faults.Fault, seed: int = 0, *, wants_reproduction: bool = False) -> Outcome:
    """Plants a fault, runs `depyf.numerics`, and compares its verdict with the fault."""
    torch.manual_seed(seed)
    torch._dynamo.reset()
    inputs = fault.inputs()
    with fault.plant():
        compiled = torch.compile(fault.program, backend=fault.backend)
        report = measure.compare(compiled, inputs, {}, wants_reproduction=wants_reproduction)
    finding = report.finding
    if finding is None:
        return Outcome(False, False, str(report))
    operators = f"{finding.operator} {finding.original} {finding.stage}"
    named = bool(re.search(fault.stage, finding.stage) and re.search(fault.operator, operators))
    lines, start = inspect.getsourcelines(fault.program)
    line = lines[finding.line.line - start] if finding.line and start <= finding.line.line < start + len(lines) else ""
    measurements = tuple(report.measurements())
    return Outcome(named, bool(re.search(fault.mark, line)), str(report), report.reproduction, measurements)


def main() -> int:
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="use only faults whose names contain this word")
    parser.add_argument("--verbose", action="store_true", help="print all reports")
    arguments = parser.parse_args()
    chosen = [fault for fault in faults.FAULTS if arguments.only in fault.name]
    named = lines = 0
    for fault in chosen:
        start = time.perf_counter()
        try:
            outcome = judge(fault)
        except Exception as error:
            outcome = Outcome(False, False, f"{type(error).__name__}: {error}")
        named += outcome.is_named
        lines += outcome.is_line_named
        mark = "ok" if outcome.is_named and outcome.is_line_named else "NO" if not outcome.is_named else "no line"
        print(f"{mark:8} {fault.name} ({time.perf_counter() - start:.0f} s)", flush=True)
        if arguments.verbose or mark != "ok":
            print("    " + outcome.text.replace("\n", "\n    "), flush=True)
    print(f"{len(chosen)} faults: stage and operator named in {named}, line in {lines}")
    return int(named < len(chosen) - 2 or lines < len(chosen) - 4)


if __name__ == "__main__":
    sys.exit(main())
