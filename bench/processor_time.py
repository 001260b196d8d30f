"""The processor time of child processes, which the benchmarks of commands compare."""

from __future__ import annotations

import resource


def of_children() -> float:
    """Returns the seconds of user and system time of all children that have ended. The resolution of `getrusage` is a
    microsecond, and that of `os.times` is 10 ms."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
