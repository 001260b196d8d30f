"""Records what torch.compile does in a `with` block: receives events from hooks in PyTorch, and produces a `Session`
and a directory of files."""

from __future__ import annotations

import atexit
import contextlib
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from depyf import decompiler, files, report, weak
from depyf.capture import hub
from depyf.capture.recorder import Recorder
from depyf.compat import distributed
from depyf.session import Session

__all__ = ["prepare_debug"]


class prepare_debug(contextlib.ContextDecorator):
    """Dumps the graphs, kernels and transformed code that torch.compile generates in a `with` block to a directory, as
    Python files. Start reading the dump at `index.md` in the directory. The following block writes its dump to the
    folder `dump`.

        with depyf.prepare_debug("dump") as session:
            compiled(x)  # Dynamo compiles the function, and depyf writes the files.

    `prepare_debug` can also be entered by calls of `__enter__` and `__exit__`, and used as a decorator. Each file is
    written as soon as PyTorch has generated its content. The index, `session.json` and the `full_code` files are
    written at the end of the block, even if the block ends with an exception. If the process dies in the block, the
    command `depyf explain` writes the index, `session.json` and the `full_code` files from the journal that the process
    leaves. The behaviour of the program does not change: a failure within depyf causes one warning and a note in the
    index. Several `prepare_debug` blocks may be nested, or open in several threads; several blocks and processes may
    use one directory. If several processes work together (torchrun, torch.distributed), each process writes to the
    folder `rank_n` in the directory, where n is its rank.

    Args:
        what: the directory of the dump (str or path), or a function followed by the directory. If a function is passed,
            the code and guards of the function's earlier compilations are dumped, too, if they still exist.
        dump_src_dir: the directory of the dump, for callers that use the parameter name of the original depyf.
        clean_wild_fx_code, log_bytecode: arguments of the original depyf, which have no effect.

    Raises:
        TypeError: the arguments are neither a directory nor a function and a directory, or the function has no Python
            code.
        OSError: on entry, the directory cannot be created or written to; no hook is set in this case.
    """

    def __init__(
        self,
        *positional: Any,
        dump_src_dir: str | os.PathLike[str] | None = None,
        clean_wild_fx_code: bool = True,
        log_bytecode: bool = False,
    ) -> None:
        if (
            positional
            and _is_path(positional[0])
            and len(positional) < 4
            and all(isinstance(flag, int) for flag in positional[1:])
        ):
            positional = positional[
                :1
            ]  # The original depyf takes clean_wild_fx_code and log_bytecode, both bool, by position, too.
        arguments = [*positional] if dump_src_dir is None else [*positional, dump_src_dir]
        if not arguments or len(arguments) > 2 or not _is_path(arguments[-1]):
            raise TypeError("prepare_debug takes a directory, or a function and a directory")
        self._directory = Path(os.path.abspath(os.fspath(arguments[-1])))
        # The references are weak, because the user may delete a function while the `prepare_debug` block is open.
        self._functions = tuple(weak.reference(decompiler.find_code(function)) for function in arguments[:-1])
        self._entered: list[Recorder] = []

    def __enter__(self) -> Session:
        number = distributed.rank()
        directory = self._directory if number is None else self._directory / f"rank_{number}"
        files.check_writable(directory)
        recorder = Recorder(directory, self._functions)
        hub.add(recorder)
        self._entered.append(recorder)
        # If a program calls `__enter__` but never `__exit__`, the index of the dump is written when the process exits.
        atexit.register(recorder.finish)
        return recorder.session

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        recorder = self._entered.pop()
        atexit.unregister(recorder.finish)
        try:
            hub.remove(recorder)
        except Exception as failure:
            report.warn(f"depyf could not remove its hooks: {type(failure).__name__}: {failure}")
        recorder.finish()


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))
