"""Measures the time of calls of compiled functions by line of source.

PyTorch's profiler records PyTorch's own ranges around guards and compiled regions, and depyf's ranges around each
kernel and library call of Inductor's output code. The C++ core adds the times of the ranges by line, module, kernel and
function (`src/costs/run_time`). If a function is compiled in the `profile` block, the source lines of its kernels come
from PyTorch's trace. If a function was compiled before the `profile` block, the source lines come from the stack traces
that PyTorch keeps for output code.
"""

from __future__ import annotations

import io
import json
import linecache
import os
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from depyf import _core, function_names
from depyf.compat import callables, dynamo, graphs, guard_tree, installed, output_code, profiler, trace, trace_log
from depyf.costs import ranges, recording
from depyf.names import compiled_fn_number
from depyf.session import PhaseEvent

_RANGES_MAX = 200_000
"""The approximate number of ranges after which a profile ends by itself, because ranges take memory, and processing
20,000 ranges takes about a second."""


class RunCosts:
    """The time of the calls of compiled functions in a `profile` block, by line of source; `str(costs)` returns the
    times as a text for readers."""

    def __init__(self, ranges_max: int) -> None:
        self._log = io.StringIO()
        self._measured: dict[str, Any] = {"ranges": [], "sites": [], "frames": [], "wall_us": 0.0}
        self._left = ranges_max
        self._thread, self._process = threading.get_ident(), os.getpid()
        self._profile: recording.Profile | None = None
        self._substitutes = ranges.Substitutes(self._count)
        self._start = 0.0
        self._announced = ""
        """The path of the file of output code that PyTorch's trace reported last; "" once `_timed` has searched for the
        module of the file."""
        self._undo: list[Callable[[], None]] = []
        self._is_hooked = False

    def __str__(self) -> str:
        return _core.run_costs_text(self.to_json())

    def to_dict(self) -> dict[str, Any]:
        """Returns the costs as JSON data (docs/costs.md lists the members)."""
        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def to_json(self, indent: int | None = None) -> str:
        """Returns the data of `to_dict` as a JSON text."""
        log = self._log.getvalue().encode("utf-8", "surrogatepass")
        text = _core.run_costs(log, json.dumps(self._measured))
        return text if indent is None else json.dumps(json.loads(text), indent=indent)

    def to_record(self) -> str:
        """Returns the times of the lines as a record (docs/record.md), which `depyf report DUMP FILE` shows at the
        lines."""
        return _core.run_costs_record(self.to_json())

    def _begin(self) -> None:
        profile = recording.Profile()
        profile.start()
        self._profile = profile
        self._hook_loading()
        for function in output_code.functions():
            self._substitutes.put(function)
        self._undo.append(self._substitutes.follow())
        self._start = time.perf_counter()

    def _end(self) -> None:
        profile, self._profile = self._profile, None
        self._substitutes.take_away()
        if profile is None or self._process != os.getpid():  # A forked child has no profiler.
            return
        wall = time.perf_counter() - self._start
        profile.stop()
        sites = self._substitutes.sites
        self._measured = {
            "wall_us": wall * 1e6,
            "is_cut": self._left <= 0,
            "ranges": [
                [profiler.kind_of(range.name), range.name, range.thread, range.start, range.end, range.device_us]
                for range in profile.ranges(ranges.PREFIX)
            ],
            "sites": [[site.file, site.line, site.callee] for site in sites],
            "files": {file: _described(file) for file in {site.file for site in sites}},
            "frames": _frames(),
            "without": self._substitutes.without,
        }

    def _count(self, count: int) -> None:
        """Counts the recorded ranges. Ends the profile when the limit is reached, so that the ranges do not fill the
        memory."""
        self._left -= count
        if self._left <= 0 and threading.get_ident() == self._thread:
            self._end()

    def _hook_loading(self) -> None:
        """Adds a hook that is called whenever output code is loaded, as soon as Inductor has been imported."""
        if not self._is_hooked and output_code.is_inductor_loaded():
            self._is_hooked = True
            self._undo.append(graphs.add_module_hook(self._loaded))

    def _traced(self, record: trace.Record) -> None:
        if record.event == "kernel":
            self._hook_loading()
            self._announced = record.path or ""

    def _timed(self, events: list[PhaseEvent]) -> None:
        """Searches for the module of the output code that the trace reported last. Output code from a cache is loaded
        before the trace reports it, so no hook is called for its module."""
        if self._announced and any(event.kind == "E" for event in events):
            module, self._announced = graphs.loaded_module(self._announced), ""
            if module is not None:
                self._loaded("", module)

    def _loaded(self, path: str, module: types.ModuleType) -> None:
        if self._profile is not None:
            for function in output_code.functions_of(module):
                self._substitutes.put(function)


def _described(file: str) -> dict[str, Any]:
    """Returns a dict with the first lines of a file of output code, which name the graph of the output code, and with
    the stack traces that PyTorch keeps for its lines."""
    return {"head": "".join(linecache.getlines(file)[:4]), "stacks": output_code.stacks(file)}


def _frames() -> list[dict[str, Any]]:
    """Returns a dict for each live cache entry with the name of its function, the line of its graph break, and whether
    its code calls a graph."""
    frames: list[dict[str, Any]] = []
    for code in dynamo.seen_codes():
        for entry in dynamo.live_entries(code):
            resumes = [
                resumed
                for name in entry.code.co_names
                if installed.is_resume_name(name)
                and (resumed := installed.resume_code(entry.find_global(name))) is not None
            ]
            line = function_names.resume_line(resumes[0].co_name) if resumes else None
            frames.append(
                {
                    "compile_id": entry.compile_id or "",
                    "function": _name_of(code, entry),
                    "file": code.co_filename,
                    "line": code.co_firstlineno,
                    "break_line": line,
                    "break_text": "" if line is None else linecache.getline(code.co_filename, line).strip(),
                    "calls_graph": any(compiled_fn_number(name) is not None for name in entry.code.co_names),
                }
            )
    return frames


def _name_of(code: types.CodeType, entry: dynamo.Live) -> str:
    """Returns the name of the function of a cache entry. If Dynamo wrapped a module in a function of its own, returns
    the name of the method `forward` of the module's class. Only the guards of the cache entry name the class of the
    module."""
    if callables.is_of_dynamo({"__name__": entry.find_global("__name__")}):
        tree = guard_tree.read(entry.guard_manager)
        free = {f"L['{name}']" for name in code.co_freevars}
        kinds = [node.type for node in tree.root if node.source in free] if tree is not None else []
        names = [name for kind in kinds if (name := function_names.of_module_class(kind)) is not None]
        if len(names) == 1:
            return names[0]
    return function_names.of_code(code)


@contextmanager
def profile(*, ranges_max: int = _RANGES_MAX) -> Iterator[RunCosts]:
    """Measures the time of calls of compiled functions by line of source while the block is open.

    Calls before a `profile` block warm up caches, and are not measured. If a function is compiled in the block, all
    source lines of a fused kernel are known, and so is the `nn.Module` to which each operator belongs. If a function
    was compiled before the block, the time of a fused kernel counts towards the one line that PyTorch keeps for the
    kernel.

    For example:

        compiled(x)
        with depyf.profile() as costs:
            for _ in range(10):
                compiled(x).sum().backward()
        print(costs)  # This prints the times of the source lines.

    Args:
        ranges_max: the approximate number of ranges after which the measurement ends by itself, while the program in
            the block continues.

    Raises:
        RuntimeError: another profile is open, and PyTorch's profiler allows only one at a time.
    """
    costs = RunCosts(ranges_max)
    costs._undo += [trace_log.add_log(costs._log), trace.add_trace_handler(costs._traced, costs._timed, pending_max=1)]
    try:
        costs._begin()
        yield costs
    finally:
        costs._end()
        for take_away in costs._undo:
            take_away()
