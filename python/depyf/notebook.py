"""Implements `%load_ext depyf` and `%%depyf` for IPython and notebooks, without importing IPython, which calls the
functions of this module."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from depyf import program
from depyf.capture import prepare_debug

__all__ = ["load_ipython_extension", "unload_ipython_extension"]


class CellFailed(Exception):
    """The exception for wrong arguments of `%%depyf`, or for a cell whose code raised an exception. IPython has already
    shown the traceback of the cell's exception."""

    def _render_traceback_(self) -> list[str]:
        """Returns the lines that IPython shows for this exception."""
        return [str(self)]


class _Parser(argparse.ArgumentParser):
    """Raises an exception for wrong arguments, where argparse would end the process."""

    def error(self, message: str) -> Any:
        raise CellFailed(f"%%depyf: {message}\n{self.format_usage().strip()}")


def load_ipython_extension(shell: Any) -> None:
    """Registers the magic `%%depyf` in a shell of IPython, which calls this function for `%load_ext depyf`."""

    def run_cell(line: str, cell: str) -> None:
        """Runs the cell, dumps all code that torch.compile generates in the cell to a directory, and shows the summary.
        Usage: %%depyf [DIR]"""
        _run_cell(shell, line, cell)

    shell.register_magic_function(run_cell, magic_kind="cell", magic_name="depyf")


def unload_ipython_extension(shell: Any) -> None:
    """Removes the magic `%%depyf` from a shell of IPython, which calls this function for `%unload_ext depyf`."""
    shell.magics_manager.magics["cell"].pop("depyf", None)


def _run_cell(shell: Any, line: str, cell: str) -> None:
    """Runs a cell in a `prepare_debug` block, and prints the summary of the block.

    Raises:
        CellFailed: the arguments are wrong, or the code of the cell raised an exception.
        OSError: the directory cannot be created or written to, and the cell has not run.
    """
    parser = _Parser(prog="%%depyf", add_help=False)
    parser.add_argument("directory", nargs="?", default=program.DIRECTORY, metavar="DIR")
    directory = parser.parse_args(shlex.split(line)).directory
    with prepare_debug(directory) as session:
        result = shell.run_cell(cell, store_history=False)
    print(program.summary(Path(session.directory), last_run=True))
    if not result.success:
        raise CellFailed("The cell raised the exception above.")
