"""Captures whole processes: a program, and the Python processes that it starts, each in a folder of its own.

Environment variables request that a process is captured: `DEPYF_DIR` is the directory of the dump, `DEPYF_PROCESS` the
id of the process that writes to the directory itself, `DEPYF_RUN` the number of the program's run, and `DEPYF_RANK` the
rank of the parent process. The module `depyf_children` reads the `DEPYF_` variables when Python starts.
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
"""The folder to put on PYTHONPATH: its sitecustomize.py makes a new Python process record itself."""
PATTERN = "process_*"
"""The glob pattern for the names of the folders that captured child processes without a rank write to."""


@dataclass(frozen=True)
class Place:
    """The directory that a program's processes write to, and the data from which each process derives its own
    folder."""

    directory: Path
    main: int
    """The id of the process that writes to the dump directory itself instead of a subfolder."""
    run: int
    """The number of the program's run in the directory; 0 if it is unknown."""
    begun_in: int
    """The id of the process in which this object was created."""
    rank_of_starter: str
    """The rank of the parent of the process `begun_in`; "" if the parent had none."""
    rank_at_start: str
    """The value of `RANK` in the environment of the process `begun_in` when this object was created; "" if it was
    unset."""

    @classmethod
    def from_environment(cls, rank_of_starter: str) -> Place:
        """Returns the place that the environment variables `DEPYF_DIR`, `DEPYF_PROCESS` and `DEPYF_RUN` describe.

        Args:
            rank_of_starter: the rank of the process that started this one; "" if it had none.

        Raises:
            KeyError: an environment variable is missing.
            ValueError: an environment variable is no number.
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
        process that is a rank and was not started by the same rank, and `process_PID` for any other process."""
        rank = distributed.rank()
        is_main = os.getpid() == self.main
        starter = self.rank_of_starter if os.getpid() == self.begun_in else self.rank_at_start
        if rank is not None and str(rank) != starter:
            return self.directory / f"rank_{rank}"
        return self.directory if is_main else self.directory / f"process_{os.getpid()}"


def begin(rank_of_starter: str) -> None:
    """Begins to record the compilations of this process until the process ends. The module `depyf_children` calls this
    function once `torch._dynamo` is imported.

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
    """Returns a `ProcessBlock` for the program that this process runs. The block's recorder is created at once, so that
    a program that compiles nothing has a dump, too.

    Args:
        directory: the directory of the dump.
        run: the number of the program's run in the directory.
        measures_guards: whether to measure how long a check of each compilation's guards takes.

    Raises:
        OSError: the directory cannot be created or written to.
    """
    # If the parent process is captured, the environment variables name the parent's dump, but this process gets a dump
    # of its own.
    depyf_children.stop()
    rank = os.environ.get("RANK", "")
    place = Place(directory, os.getpid(), run, os.getpid(), rank_of_starter=rank, rank_at_start=rank)
    files.check_writable(directory)
    block = ProcessBlock(lambda: _recorder(place, measures_guards=measures_guards))
    block.recorder()
    return block


@contextlib.contextmanager
def watched(directory: Path, run: int) -> Iterator[None]:
    """Makes the Python processes that this process starts in the `with` block record themselves."""
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
    """Returns a recorder for the compilations of this process.

    Raises:
        OSError: the folder of the process cannot be created or written to.
    """
    folder = place.of_process()
    files.check_writable(folder)
    # Compilations that were made before this process was forked are recorded by its parent process.
    return Recorder(folder, run=place.run, reports_earlier=False, measures_guards=measures_guards)
