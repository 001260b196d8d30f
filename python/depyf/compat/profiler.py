"""The ranges that PyTorch's profiler shows of compiled functions, and a cheap way to open one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from depyf.compat import private

KINDS = {
    "TorchDynamo Cache Lookup": "lookup",
    "Torch-Compiled Region: ": "region",
    "Torch-Compiled Region": "region",
    "Pregraph bytecode": "pregraph",
    "AOTDispatcher Runtime Wrapper Prologue": "graph",
    "CompiledFunctionBackward": "backward",
    "CompiledFunction": "graph",
    "## Call CompiledFxGraph": "graph",
}
"""Prefix of the name of a range of PyTorch's -> what runs in it. The first that fits counts."""
_COMPILING = "(dynamo_timed)"


def open_range() -> Callable[[str], AbstractContextManager[Any]] | None:
    """Returns what makes the context manager of a range with a name, in a tenth of the time of PyTorch's public one; None if
    this PyTorch has only that."""
    fast: Callable[[str], AbstractContextManager[Any]] | None = private.get("torch._C._profiler:_RecordFunctionFast")
    return fast


def allocations(call: Callable[[], object]) -> list[list[int]] | None:
    """Calls a function, and returns the bytes that each thread allocated in it, in order; what was freed is negative. None if
    this PyTorch cannot tell. No profile may be open.

    PyTorch's older profiler lists them. Its successor writes to standard error when it begins.
    """
    enable = private.get("torch.autograd:_enable_profiler_legacy")
    disable = private.get("torch.autograd:_disable_profiler_legacy")
    profile = private.get("torch.autograd.profiler_legacy:profile")
    if enable is None or disable is None or profile is None:
        return None
    enable(profile(profile_memory=True).config())
    try:
        result = call()
    finally:
        threads = disable()
    del result
    return [[event.cpu_memory_usage() for event in events if event.kind() == "memory_alloc"] for events in threads]


def library_functions() -> Any:
    """Returns the object whose members are the library functions of output code, `extern_kernels`; None if it is absent."""
    return private.get("torch._inductor.select_algorithm:extern_kernels")


def is_open() -> bool:
    """True if a profile is open, of depyf or of the program."""
    return bool(private.call("torch.autograd:_profiler_enabled", otherwise=False))


def kind_of(name: str) -> str:
    """Returns what runs in a range of PyTorch's: "lookup", "region", "pregraph", "graph", "backward" or "compiling"; ""
    for all others."""
    if name.endswith(_COMPILING):
        return "compiling"
    return next((kind for prefix, kind in KINDS.items() if name.startswith(prefix)), "")
