"""The program of the scripted debugger sessions: program.py DIRECTORY BACKEND [PORT]

Compiles under prepare_debug, forward and backward; runs again in a `with depyf.debug()` block; prints the results. With
a port, debugpy waits between both runs for a client that attaches to it.
"""

import sys

import depyf
import torch


def work(x, w):
    return (torch.relu(x @ w) * 3).sum()


def main(directory, backend, port=None):
    compiled = torch.compile(work, backend=backend)

    def run():
        x = torch.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
        w = torch.tensor([[1.0, 0.0], [2.0, 1.0]], requires_grad=True)
        result = compiled(x, w)
        result.backward()
        return result.item(), x.grad.tolist(), w.grad.tolist()

    with depyf.prepare_debug(directory):
        first = run()
    if port is not None:
        import debugpy

        debugpy.configure(subProcess=False)
        debugpy.listen(("127.0.0.1", int(port)))
        debugpy.wait_for_client()
    with depyf.debug():
        again = run()  # the line that debug() stops at
    print("RESULT", first == again, again, flush=True)
    print("AFTER", sys.gettrace() is None, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
