"""Measures the costs of compiling, of memory and of calls together, as `depyf run --profile` does."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from depyf.costs.compile_time import compile_costs
from depyf.costs.memory import memory_costs
from depyf.costs.run_time import profile


class Costs:
    """A context manager that measures the costs of compiling, of memory and of calls for the part of a program that
    runs in its block."""

    def __init__(self) -> None:
        self._blocks = ExitStack()

    def __enter__(self) -> Costs:
        with ExitStack() as blocks:
            self._compiling = blocks.enter_context(compile_costs(shows_live_line=False))
            self._memory = blocks.enter_context(memory_costs())
            self._calls = blocks.enter_context(profile())
            self._blocks = blocks.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._blocks.__exit__(kind, error, traceback)

    def __str__(self) -> str:
        parts = {"Compiling": self._compiling, "Memory": self._memory, "Calls": self._calls}
        return "\n\n".join(f"{title}\n{'-' * len(title)}\n{costs}" for title, costs in parts.items())

    def write(self, directory: Path) -> str:
        """Writes costs.txt, costs.json and run_time.json to a directory. Returns the text of costs.txt, followed by a
        line with the paths of the files.

        Raises:
            OSError: a file cannot be written.
        """
        text = str(self)
        data = {
            "compiling": self._compiling.to_dict(),
            "memory": self._memory.to_dict(),
            "calls": self._calls.to_dict(),
        }
        (directory / "costs.txt").write_text(text + "\n", encoding="utf-8")
        (directory / "costs.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        # `depyf report` reads run_time.json from the directory and shows the times at the source lines.
        (directory / "run_time.json").write_text(self._calls.to_record(), encoding="utf-8")
        return f"{text}\n\n          in {directory}/costs.txt, with all members in costs.json"
