"""A program that steps while a debugger is at work: attended.py [PORT]

With a port, debugpy waits there for a client. Where torch is installed, compiled code is stepped through too.
"""

from __future__ import annotations

import importlib.util
import sys

import depyf
from step.driving import Check, ordinary, tools


def afterwards(x):
    return x * 2


def compiled_work():
    """A function, what it returns and the eval frame callback: of torch, or nothing of it."""
    if importlib.util.find_spec("torch") is None:
        return None, lambda: None
    import torch
    from torch._C._dynamo.eval_frame import get_eval_frame_callback

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
    check, inner = Check(), Check()  # the debugger's first stop
    before = tools(), callback()
    with depyf.step(ordinary, callback=check):
        result = ordinary(3, 0)
    if run is not None:
        with depyf.step(callback=inner):
            assert run() == [3.0, 0.0]
    after = tools(), callback()
    afterwards(1)
    print("STEPPED", result == expected, check.wrong + inner.wrong, check.stops > 200, inner.stops > 5 or run is None)
    print("AS BEFORE", after == before, flush=True)
    if after != before:
        print(before, after)


if __name__ == "__main__":
    main(*sys.argv[1:])
