"""Measures how much memory a function of ATen or oneDNN allocates while it runs on a CPU.

Functions of ATen and oneDNN copy operands into another layout, and allocate memory for intermediate values. The amount
of the memory that ATen and oneDNN allocate depends on the processor, and output code does not state the amount.
"""

from __future__ import annotations

import itertools
import math
import os
from typing import Any

from depyf.compat import profiler

_PART_OF_MEMORY = 4
"""A library call is not measured if its tensors take more than the free memory divided by this number."""


class _TooLargeError(Exception):
    """Raised if the tensors of a library call would take too much memory."""


def measure(call: str) -> int | None:
    """Returns the largest number of bytes that a library call has allocated at one time, including its results.

    Args:
        call: an expression as the core writes it (`src/costs/library_call.h`), such as `extern_kernels.mm(tensor((8,
            4), (4, 1), torch.float32), tensor(...), out=tensor(...))`. The tensors of the call are filled with zeros,
            because zeros are also valid as indices. The measurement does not change the program's random state.

    Returns:
        The number of bytes; None if the bytes cannot be measured, because a profile is open, the tensors are too large,
        this PyTorch lacks the profiler, or the call raises an exception.
    """
    import torch

    if profiler.is_open():
        return None
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _PART_OF_MEMORY
    taken = 0

    def tensor(sizes: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        nonlocal taken
        elements = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        taken += max(elements, 0) * dtype.itemsize
        if taken > free:
            raise _TooLargeError
        return torch.empty_strided(sizes, strides, dtype=dtype).zero_()

    def operands(*positional: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return positional, named

    names = {
        "__builtins__": {},
        "tensor": tensor,
        "operands": operands,
        "torch": torch,
        "aten": torch.ops.aten,
        "extern_kernels": profiler.library_functions(),
        "device": torch.device,
        "inf": math.inf,
        "nan": math.nan,
    }
    name, _, arguments = call.partition("(")
    try:
        positional, named = eval(f"operands({arguments}", names)
        function = eval(name, names)
        # The first call of a function allocates memory that is kept for later calls, so the second call is measured.
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            function(*positional, **named)
            threads = profiler.allocations(lambda: function(*positional, **named))
    except Exception:
        return None
    if threads is None:
        return None
    return sum(max(itertools.accumulate(sizes), default=0) for sizes in threads)
