"""The ranges that PyTorch's profiler records for compiled functions, and a fast way to open a range."""

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
"""Maps the prefix of the name of a range in PyTorch's profile to the kind of work in the range. If several prefixes
match a name, the first of the matching prefixes decides."""
_COMPILING = "(dynamo_timed)"


def open_range() -> Callable[[str], AbstractContextManager[Any]] | None:
    """Returns a class of context managers that open a profiler range with a given name, ten times as fast as PyTorch's
    public class; None if this PyTorch has only the public class."""
    fast: Callable[[str], AbstractContextManager[Any]] | None = private.get("torch._C._profiler:_RecordFunctionFast")
    return fast


def allocations(call: Callable[[], object]) -> list[list[int]] | None:
    """Calls a function, and returns for each thread the bytes of its allocations in order, with freed bytes as negative
    numbers; None if this PyTorch does not record allocations. No profile of PyTorch's may be open when `allocations` is
    called.

    PyTorch's legacy profiler is used, because the newer profiler writes to standard error when it begins.
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
    """Returns the object `extern_kernels`, whose members are the library functions that output code calls; None if the
    object is absent."""
    return private.get("torch._inductor.select_algorithm:extern_kernels")


def is_open() -> bool:
    """True if a profile of PyTorch's is open, whether depyf or the program opened it."""
    return bool(private.call("torch.autograd:_profiler_enabled", otherwise=False))


def kind_of(name: str) -> str:
    """Returns the kind of work in a range of PyTorch's profile: "lookup", "region", "pregraph", "graph", "backward" or
    "compiling"; "" for any other range."""
    if name.endswith(_COMPILING):
        return "compiling"
    return next((kind for prefix, kind in KINDS.items() if name.startswith(prefix)), "")
