"""Captures whole processes: a program, and the Python processes that it starts. Each process has a folder of its own.

Environment variables make a new Python process record itself. `DEPYF_DIR` is the directory of the dump. `DEPYF_PROCESS`
is the id of the process that writes to the directory of the dump itself instead of a subfolder. `DEPYF_RUN` is the
number of the program's run, and `DEPYF_RANK` is the rank of the parent process. The module `depyf_children` reads the
`DEPYF_` variables when Python starts.
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
"""The folder that `depyf run` puts on PYTHONPATH: a new Python process executes the sitecustomize.py in this folder,
and therefore records itself."""
PATTERN = "process_*"
"""The glob pattern for the names of the folders that captured child processes without a rank write to."""


@dataclass(frozen=True)
class Place:
    """The directory that the processes of a program write to, and the data from which each process derives its own
    folder in the directory."""

    directory: Path
    main: int
    """The id of the process that writes to the dump directory itself instead of a subfolder."""
    run: int
    """The number that distinguishes this run of the program from the other runs whose dumps are in the directory; 0 if
    the number is unknown."""
    begun_in: int
    """The id of the process in which this object was created."""
    rank_of_starter: str
    """The rank of the parent of the process `begun_in`; "" if the parent had no rank."""
    rank_at_start: str
    """The value that the environment variable `RANK` had in the process `begun_in` when this object was created; "" if
    `RANK` was unset."""

    @classmethod
    def from_environment(cls, rank_of_starter: str) -> Place:
        """Returns the `Place` that the environment variables `DEPYF_DIR`, `DEPYF_PROCESS` and `DEPYF_RUN` describe.

        Args:
            rank_of_starter: the rank of the parent process; "" if the parent process has no rank.

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
        """Returns the folder that the current process writes to. A process that has a rank n, while its parent process
        does not have the rank n, writes to `rank_n` in the directory. A process that has no rank, or the rank of its
        parent process, writes to `process_PID` in the directory, unless its id is `main`. The process with the id
        `main`, with which the capture began, writes to the directory itself if it has no rank, or the rank of its
        parent process."""
        rank = distributed.rank()
        is_main = os.getpid() == self.main
        starter = self.rank_of_starter if os.getpid() == self.begun_in else self.rank_at_start
        if rank is not None and str(rank) != starter:
            return self.directory / f"rank_{rank}"
        return self.directory if is_main else self.directory / f"process_{os.getpid()}"


def begin(rank_of_starter: str) -> None:
    """Begins to record the compilations of this process until the process ends. The module `depyf_children` calls the
    function `begin` as soon as `torch._dynamo` has been imported.

    Args:
        rank_of_starter: the rank of the parent process; "" if the parent process has no rank.

    Raises:
        KeyError, ValueError: the program has changed the environment variables that describe the place of the dump.
    """
    if inductor.is_compile_worker():
        return
    place = Place.from_environment(rank_of_starter)
    ProcessBlock(lambda: _recorder(place)).begin()


def program_block(directory: Path, run: int, *, measures_guards: bool = False) -> ProcessBlock:
    """Returns a `ProcessBlock` for the program that this process runs. The recorder of the `ProcessBlock` is created at
    once, so that even a program that compiles nothing has a dump.

    Args:
        directory: the directory of the dump.
        run: the number that distinguishes this run of the program from the other runs in the directory.
        measures_guards: true if the time that a check of each compilation's guards takes is to be measured.

    Raises:
        OSError: the directory cannot be created or written to.
    """
    # If the parent process is captured, the environment variables describe the dump of the parent. This process gets a
    # dump of its own, so capturing into the parent's dump is stopped.
    depyf_children.stop()
    rank = os.environ.get("RANK", "")
    place = Place(directory, os.getpid(), run, os.getpid(), rank_of_starter=rank, rank_at_start=rank)
    files.check_writable(directory)
    block = ProcessBlock(lambda: _recorder(place, measures_guards=measures_guards))
    block.recorder()
    return block


@contextlib.contextmanager
def watched(directory: Path, run: int) -> Iterator[None]:
    """Makes each Python process that this process starts in the `with` block record its own compilations."""
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
