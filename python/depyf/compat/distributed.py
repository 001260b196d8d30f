"""Reads the rank of this process among the processes of a distributed program.

The rank comes from `torch.distributed` if this package is initialised, and otherwise from the environment variables
that torchrun sets (`RANK`, `WORLD_SIZE`).
"""

from __future__ import annotations

import os
import sys


def rank() -> int | None:
    """Returns the rank of this process; None if the program has only one process."""
    module = sys.modules.get("torch.distributed")
    if module is not None and module.is_available() and module.is_initialized():
        return int(module.get_rank()) if module.get_world_size() > 1 else None
    number, count = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    return int(number) if number.isdecimal() and count.isdecimal() and int(count) > 1 else None
