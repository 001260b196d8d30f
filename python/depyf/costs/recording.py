"""PyTorch's profiler, and the ranges that it recorded of compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from depyf.compat import profiler


class Range(NamedTuple):
    """A range of time in one thread."""

    name: str
    thread: int
    start: float
    end: float
    """Microseconds since the profile began."""
    device_us: float
    """The microseconds of what was launched within the range on another device."""


class Profile:
    """PyTorch's profiler, from `start` to `stop`."""

    def __init__(self) -> None:
        import torch

        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profile = torch.profiler.profile(activities=activities)

    def start(self) -> None:
        """Begins to record.

        Raises:
            RuntimeError: a profile is open, of depyf or of the program.
        """
        if profiler.is_open():
            raise RuntimeError(
                "PyTorch's profiler allows one profile at a time, and one is open: end it before depyf.profile"
            )
        self._profile.__enter__()

    def stop(self) -> None:
        """Ends the record."""
        self._profile.__exit__(None, None, None)

    def ranges(self, prefix: str) -> list[Range]:
        """Returns the ranges whose names begin with a prefix, and those of PyTorch's that have a kind."""
        ranges: list[Range] = []
        for event in self._profile.events() or ():
            name = event.name
            if (name.startswith(prefix) or profiler.kind_of(name)) and "CPU" in str(event.device_type):
                is_new = hasattr(event, "device_time_total")
                device = event.device_time_total if is_new else event.cuda_time_total  # the name before 2.4
                start, end = float(event.time_range.start), float(event.time_range.end)
                ranges.append(Range(name, int(event.thread), start, end, float(device or 0)))
        return ranges


def open_range() -> Callable[[str], AbstractContextManager[Any]]:
    """Returns what makes the context manager of a range with a name."""
    fast = profiler.open_range()
    if fast is not None:
        return fast
    import torch

    public: Callable[[str], AbstractContextManager[Any]] = torch.profiler.record_function
    return public
