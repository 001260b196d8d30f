"""A program that uses depyf.step while a debugger is attached: attended.py [PORT]

With a port, debugpy waits at the port for a client. If torch is installed, the program steps through compiled code too.
"""

from __future__ import annotations

import sys

import depyf
from step.driving import Check, ordinary, tools


def afterwards(x):
    return x * 2  # when all is over


class Look(Check):
    """A check that also collects the names of the files in which it stops."""

    def __init__(self):
        super().__init__()
        self.files = set()

    def __call__(self, stop):
        super().__call__(stop)
        self.files.add(stop.code.co_filename)


def compiled_work():
    """Returns (a function that calls compiled code, None without torch; a function that returns Dynamo's callback)."""
    try:
        from torch._C._dynamo.eval_frame import get_eval_frame_callback
    except ImportError:
        return None, lambda: None
    import torch

    compiled = torch.compile(lambda x: torch.relu(x) * 3, backend="eager")

    def run():
        return compiled(torch.tensor([1.0, -2.0])).tolist()

    assert run() == [3.0, 0.0]
    return run, get_eval_frame_callback


def main(port=None):
    run, callback = compiled_work()
    expected = ordinary(3, 0)
    if port is not None:
        import debugpy

        debugpy.configure(subProcess=False)
        debugpy.listen(("127.0.0.1", int(port)))
        debugpy.wait_for_client()
        debugpy.breakpoint()
    check, inner = Look(), Look()  # the first stop
    before = tools(), callback()
    with depyf.step(ordinary, callback=check):
        result = ordinary(3, 0)  # in the block
    if run is not None:
        with depyf.step(callback=inner):
            assert run() == [3.0, 0.0]
    after = tools(), callback()
    afterwards(1)
    print("STEPPED", result == expected, check.wrong + inner.wrong, check.stops, inner.stops)
    stepped = {file for file in check.files | inner.files if "pydevd" in file or file.endswith("db.py")}
    print("DEBUGGER", sorted(stepped))
    print("AS BEFORE", after == before, flush=True)
    if after != before:
        print(before, after)


if __name__ == "__main__":
    main(*sys.argv[1:])
