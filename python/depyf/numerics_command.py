"""`depyf numerics`: runs a program, and compares the results of each of its compiled calls with those of eager
execution."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Callable
from typing import Any

from depyf import program
from depyf.numerical.measure import numerics
from depyf.numerical.model import NumericsReport, largest_of_lines


class Watch:
    """Compares each call of a function or module that `torch.compile` returned with eager execution, before the
    program's own call runs.

    Args:
        only: the number of the call that is compared, from 0 on; None if all calls are compared.
        show: receives each report with the number of its call.
    """

    def __init__(self, only: int | None, show: Callable[[int, NumericsReport], None]) -> None:
        self._only = only
        self._show = show
        self._calls = 0
        self._is_inside = False

    def compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a replacement for `torch.compile`. The replacement of `torch.compile` returns a compiled function or
        module, each call of which is compared with eager execution."""

        @functools.wraps(original)
        def watched_compile(model: Any = None, **kwargs: Any) -> Any:
            result = original(model, **kwargs)
            # The decorator that `torch.compile(mode=...)` returns calls `watched_compile` again, with the decorated
            # function.
            return result if model is None else self._watched(result)

        return watched_compile

    def _watched(self, compiled: Any) -> Any:
        import torch

        if isinstance(compiled, torch.nn.Module):
            compiled.register_forward_pre_hook(self._note, with_kwargs=True)
            return compiled

        @functools.wraps(compiled)
        def call(*args: Any, **kwargs: Any) -> Any:
            self._note(compiled, args, kwargs)
            return compiled(*args, **kwargs)

        return call

    def _note(self, compiled: Any, args: Any, kwargs: Any) -> None:
        import torch

        if self._is_inside or torch.compiler.is_compiling():
            return
        number = self._calls
        self._calls += 1
        if self._only is not None and self._only != number:
            return
        self._is_inside = True
        try:
            self._show(number, numerics(compiled, *args, **kwargs))
        finally:
            self._is_inside = False


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf numerics` and returns its exit status. The status is 2 if no program is given, and the program's
    own status if the program's status is not 0. For a program with the status 0, the status is 1 if a call is compiled
    wrongly, and 0 if all calls are compiled correctly."""
    import torch

    if not parsed.program:
        print("depyf numerics: no program is given; see `depyf numerics --help`", file=sys.stderr)
        return 2
    wrong = 0
    reproduction = ""
    measurements: list[dict[str, Any]] = []

    def show(number: int, report: NumericsReport) -> None:
        nonlocal wrong, reproduction
        wrong += report.kind == "compiler"
        reproduction = reproduction or report.reproduction
        measurements.extend(report.measurements())
        print(f"call {number}: {report}", file=sys.stderr)
        if report.kind != "same" and report.gutter():
            print(
                f"errors of eager execution by line (`!` marks lines that are compiled wrongly):\n{report.gutter()}",
                file=sys.stderr,
            )

    torch.compile = Watch(parsed.call, show).compile(torch.compile)
    status = program.run_as_main(parsed.program)
    if parsed.reproduction and reproduction:
        with open(parsed.reproduction, "w", encoding="utf-8") as file:
            file.write(reproduction)
    if parsed.record:
        with open(parsed.record, "w", encoding="utf-8") as file:
            json.dump(
                {"schema_version": 2, "processes": [], "measurements": largest_of_lines(measurements)}, file, indent=1
            )
    return status or int(wrong > 0)
