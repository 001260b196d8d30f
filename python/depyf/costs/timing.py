"""Times of short calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

_ROUNDS = 9
"""The calls are timed in turns, so that a slow moment of the machine meets all of them; the best round counts."""
_BATCH_SECONDS = 0.0004
_CALLS_MAX = 2000


def microseconds(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Returns what one call of each function takes, in microseconds."""
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
    """Returns how many calls make a batch that the clock resolves; the first calls, which fill caches, count in none."""
    _seconds(call, 2)
    return max(2, min(_CALLS_MAX, int(_BATCH_SECONDS / max(_seconds(call, 3) / 3, 1e-8))))
