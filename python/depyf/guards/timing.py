"""Measures the times of short calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

_ROUNDS = 9
"""The number of rounds in which functions are measured. In each round every function is measured once, so that a slow
moment of the machine affects all functions. The result for a function is its shortest time in any round."""
_BATCH_SECONDS = 0.0004
_CALLS_MAX = 2000


def microseconds(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Returns the time of one call of each function, in microseconds."""
    counts = [_count(call) for call in calls]
    best = [float("inf")] * len(calls)
    for _ in range(_ROUNDS):
        for position, call in enumerate(calls):
            best[position] = min(best[position], _seconds(call, counts[position]) / counts[position])
    return [seconds * 1e6 for seconds in best]


def _seconds(call: Callable[[], object], count: int) -> float:
    numbers = range(count)
    start = time.perf_counter()
    for _ in numbers:
        call()
    return time.perf_counter() - start


def _count(call: Callable[[], object]) -> int:
    """Returns how many calls of a function together take long enough to be measured with the clock. The first two calls
    of the function fill caches, and are not measured."""
    _seconds(call, 2)
    return max(2, min(_CALLS_MAX, int(_BATCH_SECONDS / max(_seconds(call, 3) / 3, 1e-8))))
