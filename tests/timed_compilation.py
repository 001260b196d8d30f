"""python timed_compilation.py PROGRAM OUT.json: compiles a program on Inductor, and writes the results of
`depyf.compile_costs`, with the clock time that PyTorch spent on compiling, measured around PyTorch's own entry
points."""

from __future__ import annotations

import json
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import depyf
import torch
from training_programs import PROGRAMS, Transformer

EXAMPLE = Path(__file__).parents[1] / "examples" / "train.py"


class Clock:
    """Sums the time of the outermost calls of some functions."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0

    def around(self, owner: Any, name: str, assign: Callable[[Any, str, Any], None] = setattr) -> None:
        """Replaces a function with `assign`, so that the time of its calls is added."""
        function = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.seconds += time.perf_counter() - start

        assign(owner, name, timed)


def _step(program: Any, inputs: tuple[Any, ...]) -> None:
    output = torch.compile(program)(*inputs)
    (output[0] if isinstance(output, tuple) else output).float().sum().backward()


def _run(name: str) -> None:
    torch.manual_seed(0)
    if name == "train.py":
        runpy.run_path(str(EXAMPLE))["main"]()
    elif name == "12 layers":
        _step(Transformer(layers=12), (torch.randint(0, 50, (4, 16)),))
    else:
        _step(*PROGRAMS[name]())


def main(name: str, file: str) -> None:
    import torch._dynamo.convert_frame
    import torch._functorch._aot_autograd.runtime_wrappers as wrappers
    import torch._inductor.compile_fx  # noqa: F401  the time of loading this module is no part of compiling

    clock = Clock()
    clock.around(torch._dynamo.convert_frame.ConvertFrame, "__call__")
    # The backward is compiled at its first call.
    clock.around(wrappers._AutogradBackwardCompiler, "get_or_compile")
    with depyf.compile_costs() as costs:
        _run(name)
    Path(file).write_text(json.dumps({**costs.to_dict(), "clock_seconds": clock.seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
