"""Records the time of compiling, divided by causes, from PyTorch's own trace. Also records the time that Dynamo takes
to trace each line of source.

A `compile_costs` block receives the same structured trace that TORCH_TRACE writes to a log, and the C++ core reads the
trace like a log (`src/costs/compile_time`). This module itself measures only the time that Dynamo takes to trace each
line of source.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from depyf import _core
from depyf.compat import inductor, trace_log, tracing_time
from depyf.live_line import live_line


class CompileCosts:
    """The time that PyTorch spent compiling in a `compile_costs` block, divided by causes; `str(costs)` returns the
    times as a text for readers."""

    def __init__(self) -> None:
        self._log = io.StringIO()
        self._lines: tracing_time.Lines = {}
        self._missed: list[tuple[str, str, list[str]]] = []

    def __str__(self) -> str:
        return _core.compile_costs_text(self.to_json())

    @property
    def seconds(self) -> float:
        """The clock time in seconds during which the process compiled."""
        return float(self.to_dict()["wall_seconds"])

    def to_dict(self) -> dict[str, Any]:
        """Returns the costs as JSON data (docs/costs.md lists the members)."""
        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def to_json(self, indent: int | None = None) -> str:
        """Returns the data of `to_dict` as a JSON text."""
        missed = [
            {"compile_id": compile_id, "key": key, "differences": lines} for compile_id, key, lines in self._missed
        ]
        text = _core.compile_costs(self._log_bytes(), json.dumps({"lines": self._plain_lines(), "missed_keys": missed}))
        return text if indent is None else json.dumps(json.loads(text), indent=indent)

    def _log_bytes(self) -> bytes:
        return self._log.getvalue().encode("utf-8", "surrogatepass")

    def _compare_missed_keys(self) -> None:
        """Compares each key that was missing in Inductor's cache with the keys that are in the cache. The keys are
        compared when the `compile_costs` block ends, because later compilations add keys to the cache."""
        folder = inductor.cache_folder()
        if folder is not None:
            self._missed = _core.missed_keys(self._log_bytes(), folder)

    def _plain_lines(self) -> list[dict[str, Any]]:
        return [
            {
                "compile_id": compile_id,
                "file": code.co_filename,
                "line": number,
                "function": code.co_name,
                "text": linecache.getline(code.co_filename, number).strip(),
                "self_seconds": line.self_seconds,
                "total_seconds": line.total_seconds,
                "instructions": line.instructions,
            }
            for (compile_id, code, number), line in list(self._lines.items())
            if number is not None
        ]


@contextmanager
def compile_costs(*, shows_live_line: bool = True) -> Iterator[CompileCosts]:
    """Records the time that PyTorch spends compiling while the block is open, divided by causes.

    A `compile_costs` block must contain the first calls, because functions that were compiled before the block are not
    recorded. To see the time of a cold start, begin with empty caches (TORCHINDUCTOR_FORCE_DISABLE_CACHES=1). If a
    compilation takes longer than two seconds and standard error is a terminal, a line there reports the progress of the
    compilation, unless the environment variable DEPYF_QUIET is set.

    For example:

        with depyf.compile_costs() as costs:
            compiled(x)
        print(costs)  # This prints the time of compiling.

    Args:
        shows_live_line: if false, no line about the progress of long compilations is printed.
    """
    costs = CompileCosts()
    undo = [trace_log.add_log(costs._log), tracing_time.add_hook(costs._lines)]
    try:
        with live_line() if shows_live_line else contextlib.nullcontext():
            yield costs
    finally:
        for take_away in undo:
            take_away()
        costs._compare_missed_keys()
