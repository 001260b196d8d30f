"""Starts processes that die in a block of prepare_debug, each in another way; tests/torch/test_dying.py runs this file.

    python tests/dying_processes.py DIRECTORY     for each way a dump in DIRECTORY/<way>, and DIRECTORY/exits.json with the exit statuses

Each process is forked from a process that has imported PyTorch.
"""

from __future__ import annotations

import _thread
import atexit
import ctypes
import gc
import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

import torch._dynamo

import depyf
import torch


def first(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()


def second(x):
    return x * 2


def killing(graph, inputs):
    os.kill(os.getpid(), signal.SIGKILL)


def segfault():
    ctypes.string_at(0)


def exhaust_memory():
    limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + (64 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def overflow_stack():
    sys.setrecursionlimit(10**9)

    def deeper(_):
        return list(map(deeper, [0]))

    deeper(0)


def recurse():
    return recurse()


def interrupt():
    _thread.interrupt_main()
    time.sleep(10)


def raise_at_exit():
    atexit.register(lambda: 1 / 0)
    sys.exit(3)


def exit_thread():
    thread = threading.Thread(target=sys.exit)
    thread.start()
    thread.join()
    os._exit(4)


def compile_in_thread():
    thread = threading.Thread(target=lambda: torch.compile(second, backend="eager")(torch.ones(5)))
    thread.start()
    thread.join()
    os.kill(os.getpid(), signal.SIGKILL)


def kill_forked():
    child = os.fork()
    if child == 0:
        torch.compile(second, backend="eager")(torch.ones(5))
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def outlived_by_forked():
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(writing)
        os.read(reading, 1)  # waits until the parent process has died
        torch.compile(second, backend="eager")(torch.ones(5))
        sys.exit()  # the exit ends the block
    os.kill(os.getpid(), signal.SIGKILL)


def compile_for_ever():
    # The signal arrives at a random time, so the last line of the journal may be incomplete.
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGKILL)).start()
    while True:
        torch._dynamo.reset()
        torch.compile(second, backend="eager")(torch.ones(5))


def hang_up():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # SIGHUP is ignored by default under nohup
    os.kill(os.getpid(), signal.SIGHUP)


DYING = {
    "SIGTERM": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "SIGHUP": hang_up,
    "exit_at_once": lambda: os._exit(1),
    "abort": os.abort,
    "segfault": segfault,
    "stack_overflow": overflow_stack,
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "exit_in_thread": exit_thread,
    "killed_by_backend": lambda: torch.compile(second, backend=killing)(torch.ones(5)),
    "thread_compiles": compile_in_thread,
    "compiles_for_ever": compile_for_ever,
    "outlived_by_forked": outlived_by_forked,
}
ENDING = {
    "exit": lambda: sys.exit(3),
    "interrupt": interrupt,
    "exception": lambda: 1 / 0,
    "out_of_memory": exhaust_memory,
    "recursion": recurse,
    "raises_at_exit": raise_at_exit,
    "forked_dies": kill_forked,
}


def live(directory: Path, way) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with depyf.prepare_debug(directory):
        torch.compile(first, backend="aot_eager")(torch.ones(3))
        way()


def main(directory: Path) -> None:
    exits = {}
    torch.compile(lambda x: x + 1, backend="aot_eager")(torch.ones(3))  # imports all modules that a compilation needs
    torch._dynamo.reset()
    gc.freeze()  # otherwise, garbage collection in a forked process would copy all pages
    for name, way in {**DYING, **ENDING}.items():
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            live(directory / name, way)
            sys.exit()
        exits[name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    (directory / "exits.json").write_text(json.dumps(exits))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
