"""Wraps PyTorch's profiler, and reads the ranges that the profiler recorded while compiled functions ran."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from depyf.compat import profiler


class Range(NamedTuple):
    """A range that PyTorch's profiler recorded: a named period of time in one thread."""

    name: str
    thread: int
    start: float
    end: float
    """The time of the end of the range. `start` and `end` are in microseconds since the profile began."""
    device_us: float
    """The microseconds for which a device such as a GPU executed work that was launched within the range."""


class Profile:
    """Wraps a profile of PyTorch's profiler. The profiler records ranges from the call of `start` to the call of
    `stop`."""

    def __init__(self) -> None:
        import torch

        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self._profile = torch.profiler.profile(activities=activities)

    def start(self) -> None:
        """Begins to record.

        Raises:
            RuntimeError: depyf or the program has already opened a profile.
        """
        if profiler.is_open():
            raise RuntimeError(
                "PyTorch's profiler allows one profile at a time, and one is open; end it before you call depyf.profile"
            )
        self._profile.__enter__()

    def stop(self) -> None:
        """Ends the record."""
        self._profile.__exit__(None, None, None)

    def ranges(self, prefix: str) -> list[Range]:
        """Returns the CPU ranges whose names begin with `prefix`, and those of PyTorch's own ranges for which
        `profiler.kind_of` returns a kind."""
        ranges: list[Range] = []
        for event in self._profile.events() or ():
            name = event.name
            if (name.startswith(prefix) or profiler.kind_of(name)) and "CPU" in str(event.device_type):
                is_new = hasattr(event, "device_time_total")
                # Before PyTorch 2.4 the attribute `device_time_total` has the name `cuda_time_total`.
                device = event.device_time_total if is_new else event.cuda_time_total
                start, end = float(event.time_range.start), float(event.time_range.end)
                ranges.append(Range(name, int(event.thread), start, end, float(device or 0)))
        return ranges


def open_range() -> Callable[[str], AbstractContextManager[Any]]:
    """Returns a function that takes a name and returns the context manager of a range with this name."""
    fast = profiler.open_range()
    if fast is not None:
        return fast
    import torch

    public: Callable[[str], AbstractContextManager[Any]] = torch.profiler.record_function
    return public
