"""Runs a function in a forked process, so that its changes do not affect this process.

The child process starts with a copy of this process: modules, optimizers, Dynamo's cache entries, counters, generators
of random numbers. Changes in the child do not reach this process, and the result of the function is returned pickled.
OpenMP's worker threads do not survive a fork. A thread that used OpenMP before the fork would wait for the lost workers
forever. Therefore the child calls the function in a new thread, which has not used OpenMP. The new thread gets
PyTorch's thread-local settings from the thread that forked.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import pickle
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
_FAILED = 70
"""The exit status of a child process whose function raised an exception; the child wrote the traceback to the result
file."""


class Failed(RuntimeError):
    """Raised in the parent process if the function raised an exception in the child process, or if the child process
    died; the message states which of the two happened."""


def can_fork() -> bool:
    """True if this process can be forked: the platform has `os.fork`, and PyTorch has not initialised CUDA."""
    import torch

    return hasattr(os, "fork") and not (torch.cuda.is_available() and torch.cuda.is_initialized())


def run(function: Callable[[], T]) -> T:
    """Calls a function in a forked process and returns the function's result, which has to be picklable.

    Raises:
        Failed: the function raised an exception, or the process died.
    """
    handle, name = tempfile.mkstemp(prefix="depyf_numerics_")
    os.close(handle)
    path = Path(name)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        settings = _thread_settings()
        child = os.fork()
        if child == 0:
            _in_child(function, path, settings)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        content = path.read_bytes()
    finally:
        path.unlink(missing_ok=True)
    if code == _FAILED:
        raise Failed(content.decode("utf-8", "replace"))
    if code != 0:
        raise Failed(f"the process that measures ended with status {code}")
    result: T = pickle.loads(content)
    return result


def _in_child(
    function: Callable[[], Any], path: Path, settings: Callable[[], contextlib.AbstractContextManager[None]]
) -> None:
    """Calls the function in a new thread of the child process, writes its result or its traceback to `path`, and ends
    the process."""
    status = _FAILED
    context = contextvars.copy_context()

    def work() -> None:
        nonlocal status
        try:
            with settings():
                content = pickle.dumps(context.run(function))
            path.write_bytes(content)
            status = 0
        except BaseException:
            path.write_text(traceback.format_exc())

    try:
        threading.stack_size(512 * 1024 * 1024)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _thread_settings() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Returns a function that creates a context manager. The context manager applies PyTorch's settings of the current
    thread (grad mode, inference mode, autocast) to the thread that enters it."""
    import torch

    grad, inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    devices = [device for device in ("cpu", "cuda") if device == "cpu" or torch.cuda.is_available()]
    autocast = [(device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in devices]
    is_cached = torch.is_autocast_cache_enabled()

    @contextlib.contextmanager
    def enter() -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.inference_mode(inference))
            stack.enter_context(torch.set_grad_enabled(grad))
            for device, is_enabled, dtype in autocast:
                if is_enabled:
                    stack.enter_context(torch.autocast(device, dtype, cache_enabled=is_cached))
            yield

    return enter
