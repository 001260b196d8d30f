"""Reads the rank of this process among several.

Relied on: the environment that torchrun sets (`RANK`, `WORLD_SIZE`), and `torch.distributed`, where it is initialised.
"""

from __future__ import annotations

import os
import sys


def rank() -> int | None:
    """Returns the number of this process; None if it is the only one."""
    module = sys.modules.get("torch.distributed")
    if module is not None and module.is_available() and module.is_initialized():
        return int(module.get_rank()) if module.get_world_size() > 1 else None
    number, count = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    return int(number) if number.isdecimal() and count.isdecimal() and int(count) > 1 else None
