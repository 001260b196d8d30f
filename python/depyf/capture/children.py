"""Captures whole processes: a program, and the Python processes that it starts, each in a folder of its own.

Environment variables tell a process that it is to be captured: `DEPYF_DIR` is the directory of the dump, `DEPYF_PROCESS`
the process that writes to the directory itself, `DEPYF_RUN` the number of the program's run, and `DEPYF_RANK` the rank
of the process that started it. `depyf_children` reads them when Python starts.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import depyf_children
from depyf import files
from depyf.capture.process_block import ProcessBlock
from depyf.capture.recorder import Recorder
from depyf.compat import distributed, inductor

STARTUP = Path(depyf_children.__file__).parent / "startup"
"""The folder whose sitecustomize.py watches a process."""
PATTERN = "process_*"
"""The names of the folders of processes."""


@dataclass(frozen=True)
class Place:
    """Where the processes of a program write to."""

    directory: Path
    main: int
    """The id of the process that writes to the directory itself."""
    run: int
    """The number of the program's run in the directory; 0 if it is unknown."""
    begun_in: int
    """The id of the process in which this object was made."""
    rank_of_starter: str
    """The rank of the process that started that one; "" if it had none."""
    rank_at_start: str
    """The rank that the environment of that process stated when this object was made."""

    @classmethod
    def from_environment(cls, rank_of_starter: str) -> Place:
        """Returns the place that the environment names.

        Args:
            rank_of_starter: the rank of the process that started this one; "" if it had none.

        Raises:
            KeyError: a variable is missing.
            ValueError: a variable is no number.
        """
        return cls(
            directory=Path(os.environ["DEPYF_DIR"]),
            main=int(os.environ["DEPYF_PROCESS"]),
            run=int(os.environ.get("DEPYF_RUN", "0")),
            begun_in=os.getpid(),
            rank_of_starter=rank_of_starter,
            rank_at_start=os.environ.get("RANK", ""),
        )

    def of_process(self) -> Path:
        """Returns the folder of the current process: the directory itself for the first process, `rank_n` in it for a
        process that is a rank and was not started by the same rank, and `process_PID` for the others."""
        rank = distributed.rank()
        is_main = os.getpid() == self.main
        starter = self.rank_of_starter if os.getpid() == self.begun_in else self.rank_at_start
        if rank is not None and str(rank) != starter:
            return self.directory / f"rank_{rank}"
        return self.directory if is_main else self.directory / f"process_{os.getpid()}"


def begin(rank_of_starter: str) -> None:
    """Begins a block for the rest of this process. `depyf_children` calls this once `torch._dynamo` is imported.

    Args:
        rank_of_starter: the rank of the process that started this one; "" if it had none.

    Raises:
        KeyError, ValueError: the program has changed the variables that name the place of the dump.
    """
    if inductor.is_compile_worker():
        return
    place = Place.from_environment(rank_of_starter)
    ProcessBlock(lambda: _recorder(place)).begin()


def program_block(directory: Path, run: int, *, measures_guards: bool = False) -> ProcessBlock:
    """Returns a block for the program that this process runs. Its recorder is made already, so that a program that
    compiles nothing has a dump too.

    Args:
        directory: the directory of the dump.
        run: the number of the program's run in the directory.
        measures_guards: true if it is measured how long a check of each compilation's guards takes.

    Raises:
        OSError: the directory cannot be made or written to.
    """
    # The environment may name another dump, if the process that started this one is captured.
    depyf_children.stop()
    rank = os.environ.get("RANK", "")
    place = Place(directory, os.getpid(), run, os.getpid(), rank_of_starter=rank, rank_at_start=rank)
    files.check_writable(directory)
    block = ProcessBlock(lambda: _recorder(place, measures_guards=measures_guards))
    block.recorder()
    return block


@contextlib.contextmanager
def watched(directory: Path, run: int) -> Iterator[None]:
    """Has the processes captured that this one starts in the block."""
    paths = [str(STARTUP), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = {
        "DEPYF_DIR": str(directory),
        "DEPYF_PREFIX": sys.prefix,
        "DEPYF_PROCESS": str(os.getpid()),
        "DEPYF_RANK": os.environ.get("RANK", ""),
        "DEPYF_RUN": str(run),
        "PYTHONPATH": os.pathsep.join(paths),
    }
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _recorder(place: Place, *, measures_guards: bool = False) -> Recorder:
    """Returns a recorder for this process.

    Raises:
        OSError: its folder cannot be made or written to.
    """
    folder = place.of_process()
    files.check_writable(folder)
    # Another process has recorded what was compiled before this one was forked.
    return Recorder(folder, run=place.run, reports_earlier=False, measures_guards=measures_guards)
