"""`depyf.debug`: a `with` block that runs already compiled code under a debugger, without compiling further calls."""

from __future__ import annotations

import bdb
import cmd
import inspect
import os
import pdb
import sys
import types
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from depyf import names, report, running
from depyf.capture import hub
from depyf.compat import compiling, dynamo

__all__ = ["debug"]

_SHOWN_MAX = 30


class debug:
    """Pauses in the debugger at the first line of a `with` block, in which compiled code runs and nothing is compiled.

    A message lists the dumped files from which code runs, by directory, with the first line of each file. Breakpoints
    in the dumped files work (pdb: `b FILE:LINE`; in an editor: open the file and click). A call for which the guards of
    no compilation hold is not compiled, but runs eagerly, and a message reports it. The only code that is compiled in
    the block is a backward that was never called before, because a backward has no eager code that could run instead.
    Threads other than the thread that enters the block are not affected.

    The debugger is the active debugger (`python -m pdb`, debugpy), or, if no debugger is active, the debugger that
    `breakpoint()` would start. `PYTHONBREAKPOINT` is honoured: with the value 0 there is no pause. In a pdb that the
    block starts, `q` ends debugging, and the program continues. At the end of the block, Dynamo may compile again, and
    the previous trace function is restored.

    Raises:
        RuntimeError: the block is entered inside a `prepare_debug` block, whose dumped files are complete only at its
            end.

    Example:

        with depyf.prepare_debug("dump"):
            compiled(x)
        with depyf.debug():
            compiled(x)
    """

    def __enter__(self) -> debug:
        if hub.active():
            raise RuntimeError(
                "depyf.debug() runs the files that prepare_debug has dumped; end the prepare_debug block first"
            )
        self._told: set[int] = set()
        self._release = compiling.hold_back(self._missed)
        self._tracer = self._ours = sys.gettrace()
        try:
            print(message(), file=sys.stdout, flush=True)
            if self._release is None and running.files:
                print(
                    "depyf: this release of PyTorch cannot be kept from compiling, so a call that no compilation accepts is compiled."
                )
            pause = _pause(sys._getframe(1))
            if pause is not None:
                pause()  # After this call no Python function may be called, because the debugger would stop in it.
                self._ours = sys.gettrace()
            return self
        except BaseException:
            self._restore()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._restore()

    def _restore(self) -> None:
        # If another trace function has replaced the one that the `depyf.debug` block set, the later trace function
        # stays set.
        if self._ours != self._tracer and sys.gettrace() == self._ours:
            sys.settrace(self._tracer)
        if self._release is not None:
            self._release()
            self._release = None

    def _missed(self, code: types.CodeType, bound: dict[str, Any]) -> None:
        try:
            # Dynamo also reports functions of the debugger, such as the function that evaluates the user's input.
            if id(code) in self._told or code.co_filename.startswith(_debuggers()):
                return
            self._told.add(id(code))
            reasons = dynamo.guard_failures(code, bound)
            why = "; ".join(reasons) if reasons else "it has not been compiled"
            print(
                f"depyf: {code.co_name} ({Path(code.co_filename).name}:{code.co_firstlineno}) fits no compilation, and "
                f"runs as it was written: {names.shorten(why)}",
                flush=True,
            )
        except Exception as failure:
            report.warn(f"depyf could not report a call that no compilation accepts: {failure}")


def message() -> str:
    """Returns a message that lists the dumped files from which code runs, by directory, with a `b FILE:LINE` command
    for the first line of each file."""
    present = [file for file in running.files.values() if os.path.exists(file.path)]
    if not present:
        return (
            "depyf: no dumped file is running code. Call the function in a `with depyf.prepare_debug(directory):` block "
            "first. If a file is not the running code, the head of the file states the reason."
        )
    lines = []
    for directory in dict.fromkeys(os.path.dirname(file.path) for file in present):
        inside = [file for file in present if os.path.dirname(file.path) == directory]
        compilations = list(dict.fromkeys(file.compile_id for file in inside))
        # The transformed code of a compilation is listed first, because it runs first, although it is generated last.
        inside.sort(key=lambda file: (compilations.index(file.compile_id), file.kind != "transformed code"))
        lines.append(
            f"depyf: {len(inside)} files in {directory} are the running code. Set breakpoints at their first lines, or at later lines:"
        )
        for file in inside[-_SHOWN_MAX:]:
            description = " ".join(part for part in (file.direction, file.kind) if part)
            lines.append(
                f"  b {file.path}:{file.first_line}  # {description}, {file.function}, compilation {file.compile_id}"
            )
        if len(inside) > _SHOWN_MAX:
            lines.append(
                f"  and {len(inside) - _SHOWN_MAX} files of earlier compilations; see index.md in the same directory"
            )
    lines.append(
        "depyf: nothing is compiled in this block. A call that no compilation accepts runs eagerly, and a message states why."
    )
    return names.one_line_each(lines)


class _Pdb(pdb.Pdb):
    """A pdb whose command `q` ends the debugging, and not the program."""

    def set_quit(self) -> None:
        self.set_continue()
        sys.settrace(None)


def _pause(frame: types.FrameType) -> Callable[[], Any] | None:
    """Returns a function that makes the debugger stop in `frame`; None if `PYTHONBREAKPOINT=0` disables the pause."""
    wanted = os.environ.get("PYTHONBREAKPOINT", "")
    if wanted == "0":
        return None
    at_work = getattr(sys.gettrace(), "__self__", None)
    if isinstance(at_work, pdb.Pdb):
        return lambda: at_work.set_trace(frame)
    settrace = _pydevd()
    if settrace is not None:
        return lambda: settrace(
            suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame
        )
    hook: Callable[..., Any] = sys.breakpointhook
    if _is_of_pydevd(hook):
        # If debugpy is imported and has no client, as in a notebook, debugpy's hook for `breakpoint()` would not stop
        # the program.
        hook = sys.__breakpointhook__
    if hook is sys.__breakpointhook__ and wanted in ("", "pdb.set_trace"):
        return lambda: _Pdb().set_trace(frame)
    try:
        takes_frame = hook is not sys.__breakpointhook__ and "frame" in inspect.signature(hook).parameters
    except (TypeError, ValueError):
        takes_frame = False
    return (lambda: hook(frame=frame)) if takes_frame else hook


def _debuggers() -> tuple[str, ...]:
    """Returns the files and folders that contain the functions of debuggers, as prefixes of `co_filename`."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in ("debugpy", "pydevd", "IPython")]
    return (*(os.path.dirname(file) + os.sep for file in files if file), pdb.__file__, bdb.__file__, cmd.__file__)


def _pydevd() -> Callable[..., Any] | None:
    """Returns the function `settrace` of pydevd, debugpy's debugger; None if no debugger is attached."""
    pydevd, debugpy = sys.modules.get("pydevd"), sys.modules.get("debugpy")
    current = getattr(pydevd, "get_global_debugger", None)
    if current is None or current() is None:
        return None
    if debugpy is not None and not debugpy.is_client_connected():
        return None
    return getattr(pydevd, "settrace", None)


def _is_of_pydevd(hook: Callable[..., Any]) -> bool:
    return getattr(hook, "__module__", "").partition(".")[0] in ("pydevd", "_pydevd_bundle", "debugpy")
