"""`depyf.step`: the block in which functions run one instruction at a time."""

from __future__ import annotations

import os
import sys
import threading
import types
from collections.abc import Callable
from types import TracebackType
from typing import Any, TextIO

from depyf import decompiler, report
from depyf.compat import ahead, dynamo
from depyf.stepper import view
from depyf.stepper.commands import CommandError, Commands
from depyf.stepper.engine import Engine, Plan
from depyf.stepper.stop import Stop
from depyf.stepper.targets import Targets

if sys.version_info >= (3, 12):
    from depyf.stepper.monitoring import Monitoring as Events
else:
    from depyf.stepper.tracing import Tracing as Events

__all__ = ["step"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Dataclasses compile their methods under the file name "<string>".
_LIBRARY = (os.path.dirname(os.__file__) + os.sep, "<string>")
_active = threading.local()
"""The attribute `block` is the `depyf.step` block that the current thread is in. `_active` needs no lock, because each
thread has its own value of `block`. The end of the `depyf.step` block clears the value of `block`; a forked child keeps
the value of the thread that forked."""


class step:
    """Runs functions one bytecode instruction at a time, in a `with` block.

    Execution stops before the first instruction of three kinds of code: each given function, the code that
    torch.compile generated for the function (at a call or ahead of time), and the resume functions after the function's
    graph breaks. A stop shows a prompt (`help` lists its commands), or calls `callback` with a `Stop`. The callback
    returns the line that a user would type, such as "n", "b 12, x > 3" or "x = 5"; a list of such lines; or None for
    "si", the next instruction. After commands that do not continue execution, the callback is called again for the same
    stop; `stop.output` contains the output of these commands. A command of the callback that cannot be executed causes
    a warning, and stepping continues with the next instruction.

    Only the thread that enters the block stops. The program continues without stepping after the command `q`, after the
    end of the input, and, with a warning, after an exception in the callback. At the end of the block the tool id of
    `sys.monitoring` is released, or the previous tracer of `sys.settrace` (up to Python 3.11) is restored.

    Args:
        functions: the functions in which execution stops; without functions, execution stops in all code that Dynamo
            has generated.
        callback: the function that is called at each stop instead of showing a prompt.
        stdin, stdout: the streams of the prompt; by default the streams of the process.

    Raises:
        TypeError: there is no Python code behind one of the functions.
        RuntimeError: the thread is already in a `depyf.step` block, or no tool id is free.

    Example:

        with depyf.step(fn):
            compiled(x)
    """

    def __init__(
        self,
        *functions: Any,
        callback: Callable[[Stop], str | list[str] | None] | None = None,
        stdin: TextIO | None = None,
        stdout: TextIO | None = None,
    ) -> None:
        self._codes = [code for function in functions for code in _codes_of(function)]
        self._callback = callback
        self._stdin, self._stdout = stdin, stdout
        self._engine: Engine | None = None
        self._backend: Any = None
        self._targets: Targets | None = None

    def __enter__(self) -> step:
        if getattr(_active, "block", None) is not None:
            raise RuntimeError("this thread is already in a depyf.step block; leave that block first")
        targets = self._targets = Targets(self._codes)
        engine = self._engine = Engine(targets.has, self._is_skipped, self._decide)
        self._commands = Commands(engine)
        self._backend = Events(engine)
        targets.start()
        try:
            self._backend.start()
        except BaseException:
            targets.stop()
            raise
        _active.block = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _active.block = None
        assert self._engine is not None and self._targets is not None
        self._backend.stop()
        self._targets.stop()
        self._engine.forget()

    def _is_skipped(self, frame: types.FrameType) -> bool:
        """True if stepping does not enter the called function, whose frame is `frame`.

        Stepping never enters functions of depyf, of torch and of the import system, and enters no function while Dynamo
        compiles. Stepping enters a function of the standard library only if a function that is being stepped through
        calls it.
        """
        if _is_machinery(frame.f_code):
            return True
        if frame.f_code.co_filename.startswith(_LIBRARY):
            assert self._engine is not None
            return frame.f_back is None or not self._engine.follows(frame.f_back)
        return "torch" in sys.modules and dynamo.current() is not None

    # The following methods ask the callback or the prompt how execution continues after a stop.

    def _decide(self, stop: Stop) -> Plan:
        try:
            return self._ask_callback(stop) if self._callback is not None else self._ask_prompt(stop)
        except Exception as error:
            who = "the callback of depyf.step" if self._callback is not None else "depyf.step"
            report.warn(f"{who} raised {type(error).__name__}: {error}; the program continues without stepping")
            return Plan("quit")
        finally:
            self._commands.leave()

    def _ask_callback(self, stop: Stop) -> Plan:
        assert self._callback is not None
        while True:
            answer = self._callback(stop)
            lines = list(answer) if isinstance(answer, (list, tuple)) else ["si"] if answer is None else [answer]
            if not lines:
                lines = ["si"]
            for line in lines:
                try:
                    if not isinstance(line, str):
                        raise CommandError(f"a command cannot be of type {type(line).__name__}")
                    done = self._commands.run(stop, line)
                except CommandError as error:
                    # A callback that is called again for the same stop could return the same line forever.
                    stop.output.append(f"*** {error}")
                    report.warn(
                        f"depyf.step: {line!r} of the callback failed: {error}; stepping continues with the next "
                        "instruction"
                    )
                    return self._commands.next_instruction(stop)
                if isinstance(done, Plan):
                    return done
                stop.output.append(done)

    def _ask_prompt(self, stop: Stop) -> Plan:
        stream = self._stdout or sys.stdout
        print(view.stop(stop), file=stream)
        while True:
            try:
                line = self._read_line(stream)
            except EOFError:
                print(file=stream)
                return Plan("quit")
            except KeyboardInterrupt:
                print("--KeyboardInterrupt--", file=stream)
                continue
            try:
                done = self._commands.run(stop, line)
            except CommandError as error:
                print(f"*** {error}", file=stream)
                continue
            if isinstance(done, Plan):
                return done
            if done:
                print(done, file=stream)

    def _read_line(self, stream: TextIO) -> str:
        if self._stdin is None and self._stdout is None:
            return input("(depyf) ")
        print("(depyf) ", end="", file=stream, flush=True)
        line = (self._stdin or sys.stdin).readline()
        if not line:
            raise EOFError
        return line


def _codes_of(function: Any) -> list[types.CodeType]:
    """Returns the code objects of `function` in which execution stops. A function that was compiled ahead of time has a
    code object for each set of inputs for which it was compiled."""
    compiled_ahead = ahead.functions(function)
    return [compiled.code for compiled in compiled_ahead] or [decompiler.find_code(function)]


def _is_machinery(code: types.CodeType) -> bool:
    torch = sys.modules.get("torch")
    inside = () if torch is None else (os.path.dirname(str(torch.__file__)) + os.sep,)
    return code.co_filename.startswith(("<frozen importlib", _PACKAGE, *inside))
