"""Finds the compilation that a thread is working on: the call for which Dynamo compiles, and the error with which the
compilation ends.

PyTorch passes neither the call that is compiled nor the error to its hooks, so this module reads the local variables of
PyTorch's own frames.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import Any

from depyf.compat import installed, private
from depyf.compat.private import guarded
from depyf.source_line import Line

_CONVERT = "torch._dynamo.convert_frame"
_GUARDS = "torch._dynamo.guards"
# If a compilation ends with an exception of one of these classes, Dynamo by default runs the function eagerly.
_SOFT = ("Unsupported", "UserError", "SkipFrame", "SkipCodeRecursiveException", "CacheLimitExceeded")
_ALWAYS_RAISED = ("UncapturedHigherOrderOpError", "ResumePrologueTracingError")


@dataclass(frozen=True)
class Call:
    """The call for which Dynamo compiles a function of the program."""

    code: types.CodeType
    local: dict[str, Any]
    scope: dict[str, Any]
    """The globals of the function that is called."""
    is_ahead: bool = False
    """True if there is no call, because a graph is captured ahead of time, for `aot_compile` or `torch.export`."""


@dataclass(frozen=True)
class Ending:
    """An exception that ends a compilation."""

    message: str
    """The message of the exception, together with that of the exception that caused it."""
    stack: tuple[Line, ...]
    """The lines that were being compiled, the innermost last; empty if the exception has no lines."""
    goes_to_caller: bool
    """True if the program's call raises the exception; false if the function runs eagerly instead."""


def call() -> Call | None:
    """Returns the call for which Dynamo is compiling in the calling thread; None outside of a compilation."""
    inside = _compiler_locals()
    if inside is None:
        return None
    code, local, scope = inside.get("code"), inside.get("locals"), inside.get("globals")
    if not isinstance(code, types.CodeType):
        private.not_found(f"{_CONVERT}:code")
        return None
    is_ahead = _compiler_locals(("_compile",)) is None
    return Call(code, local if isinstance(local, dict) else {}, scope if isinstance(scope, dict) else {}, is_ahead)


@dataclass(frozen=True)
class Export:
    """A call of `torch.export`."""

    module: str
    """The name of the class of the module that is exported."""
    line: Line | None
    """The line that calls `torch.export`."""


@guarded()
def export() -> Export | None:
    """Returns the call of `torch.export` that the calling thread is in; None outside of `torch.export`."""
    exporting = sys.modules.get("torch.export._trace")
    if exporting is None:  # The first export loads this module.
        return None
    # PyTorch sets `_EXPORT_MODULE_HIERARCHY` during an export. Testing this variable first avoids a search through all
    # frames of the stack for each input of a compilation.
    if getattr(exporting, "_EXPORT_MODULE_HIERARCHY", private.ABSENT) is None:
        return None
    package = sys.modules.get("torch.export")
    globals_of_package = None if package is None else vars(package)
    frame: types.FrameType | None = sys._getframe(1)
    export_frame = None
    while frame is not None:
        if frame.f_globals is globals_of_package:
            export_frame = frame
        frame = frame.f_back
    if export_frame is None:
        return None
    module = export_frame.f_locals.get("mod")
    module_name = "" if module is None else str(type.__getattribute__(type(module), "__qualname__"))
    caller = export_frame.f_back
    line = None if caller is None else Line(caller.f_code.co_filename, caller.f_lineno)
    return Export(module_name, line)


@guarded()
def ending() -> Ending | None:
    """Returns the exception with which the compilation of the calling thread fails; None if there is no exception.

    This function must be called while PyTorch reports the end of a compilation that failed.
    """
    error = sys.exc_info()[1]
    if error is None:
        return None
    parts = [str(error)]
    cause = error.__cause__
    if cause is not None:
        parts.append(str(cause))
    stack = private.call("torch._dynamo.exc:get_real_stack", error if cause is None else _with_stack(error, cause))
    lines = tuple(
        Line(frame.filename, frame.lineno or 0, (frame.line or "").strip(), frame.name or "") for frame in stack or ()
    )
    return Ending("\n".join(parts), lines, _goes_to_caller(error))


def _with_stack(error: BaseException, cause: BaseException) -> BaseException:
    return error if getattr(error, "real_stack", None) is not None else cause


def _goes_to_caller(error: BaseException) -> bool:
    kinds = [kind.__name__ for kind in type(error).__mro__]
    inside = _compiler_locals() or {}
    box = inside.get("convert_frame_box")
    if inside.get("one_graph") is True or getattr(box, "error_on_graph_break", None) is True:
        return True
    if any(kind in kinds for kind in _ALWAYS_RAISED):
        return True
    if any(kind in kinds for kind in _SOFT):
        return False
    return private.get("torch._dynamo.config:suppress_errors") is not True


def _compiler_locals(names: tuple[str, ...] = ("_compile", "compile_frame")) -> dict[str, Any] | None:
    """Returns the local variables of the innermost frame of Dynamo whose function has one of the names; None if no
    frame matches."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in names and frame.f_globals.get("__name__") == _CONVERT:
            return frame.f_locals
        frame = frame.f_back
    return None


def call_to_compile() -> tuple[types.CodeType, dict[str, Any]] | None:
    """Returns the code and the local variables of the call that makes Dynamo compile a function again; None if they are
    not found.

    This function must be called while PyTorch reports why it compiles the function again. PyTorch does not pass the
    call to a hook, so the function reads the local variables of PyTorch's own frame.
    """
    has_frame = False
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        inside = frame.f_locals if frame.f_globals.get("__name__") == "torch._dynamo.guards" else {}
        if "cache_entries" in inside:
            has_frame = True
            call = inside.get("frame")
            code, local = getattr(call, "f_code", None), getattr(call, "f_locals", None)
            if isinstance(code, types.CodeType) and isinstance(local, dict):
                return code, local
        frame = frame.f_back
    private.not_found(f"{_GUARDS}:frame" if has_frame else f"{_GUARDS}:cache_entries")
    return None


def _globals_of_module(name: str) -> dict[str, Any] | None:
    """Returns the globals of a module, by which the frames of its functions are recognised; None if the module is not
    loaded."""
    module = sys.modules.get(name)
    return None if module is None else vars(module)


def backend_at_work() -> Any:
    """Returns the backend for which a graph was captured; None if the backend is not found. This function must be
    called while PyTorch passes the graph to a hook.

    PyTorch does not pass the backend to its hooks, so the local variables of PyTorch's own frame are read.
    """
    frame: types.FrameType | None = sys._getframe(1)
    globals_of_module = _globals_of_module("torch._dynamo.output_graph")
    while frame is not None:
        if frame.f_globals is globals_of_module:
            graph = frame.f_locals.get("self")
            return None if graph is None else private.of(graph, "torch._dynamo.output_graph:OutputGraph.compiler_fn")
        frame = frame.f_back
    return None


def globals_being_compiled() -> dict[str, Any] | None:
    """Returns the globals of the function being compiled; None if they are not found. This function must be called
    within a bytecode hook.

    PyTorch does not pass the function's globals to bytecode hooks, so the globals are read from the local variables of
    Dynamo's compiler.
    """
    compiling = False
    frame: types.FrameType | None = sys._getframe(1)
    globals_of_module = _globals_of_module("torch._dynamo.convert_frame")
    while frame is not None:
        if frame.f_globals is globals_of_module:
            candidate = frame.f_locals.get("globals")
            if type(candidate) is dict:
                return candidate
            compiling = True
        frame = frame.f_back
    if compiling:
        private.not_found("torch._dynamo.convert_frame:globals")
    return None


def locals_being_compiled() -> dict[str, Any] | None:
    """Returns the local variables of the call that is being compiled; None if they are not found. This function must be
    called within a bytecode hook."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch._dynamo.convert_frame":
            call = frame.f_locals.get("frame")
            local = getattr(call, "f_locals", None)
            if isinstance(local, dict):
                return local
        frame = frame.f_back
    private.not_found("torch._dynamo.convert_frame:frame")
    return None


def parameters(code: types.CodeType) -> dict[str, tuple[str, ...]]:
    """Returns a dict from the global name of each resume function that the transformed code `code` calls to the names
    of the resume function's parameters."""
    parameters_of = {}
    table: dict[str, Any] | None = None
    for name in code.co_names:
        if not installed.is_resume_name(name):
            continue
        if table is None:
            table = globals_being_compiled() or {}
        resume = installed.resume_code(table[name] if name in table else installed.find_global(name))
        if resume is not None:
            parameters_of[name] = resume.co_varnames[: resume.co_argcount]
    return parameters_of


Dropped = tuple[str, str]
"""A guard that a filter dropped: the guard's kind, and Dynamo's name of the guarded value."""


@guarded(list)
def dropped_guards() -> list[Dropped]:
    """Returns the guards that a filter dropped from the guards that Dynamo is building; an empty list if no guard was
    dropped, or if Dynamo's list of guards is not found."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and not (frame.f_globals.get("__name__") == _GUARDS and "sorted_guards" in frame.f_locals):
        frame = frame.f_back
    if frame is None:
        private.not_found(f"{_GUARDS}:CheckFunctionManager.__init__.sorted_guards")
        return []
    every, kept = frame.f_locals.get("guards"), frame.f_locals.get("sorted_guards")
    if every is None:
        private.not_found(f"{_GUARDS}:CheckFunctionManager.__init__.guards")
    if every is None or kept is None or len(kept) >= len(every):
        return []
    staying = {id(guard) for guard in kept}
    return sorted((str(guard.create_fn_name()), _name_of(guard)) for guard in every if id(guard) not in staying)


def _name_of(guard: Any) -> str:
    name = guard.name  # Before PyTorch 2.9, `Guard.name` is a method.
    return str(name() if callable(name) else name)


@dataclass(frozen=True)
class Sample:
    """The compilation that a thread was working on when its stack was sampled."""

    key: tuple[int, str]
    """A key that is equal in all samples of one compilation."""
    name: str
    """The name of the function, followed by the id of the compilation if the id is known: "Block.forward 0/1"."""
    stage: str
    """The part of the compiler that was working, such as "Inductor"."""


_STAGES = (
    ("torch._inductor.async_compile", "Inductor, C++ or Triton compiler"),
    ("torch._inductor.cpp_builder", "Inductor, C++ or Triton compiler"),
    ("torch._inductor", "Inductor"),
    ("torch._functorch", "AOTAutograd"),
    (_GUARDS, "guards"),
    ("torch._dynamo.repro", "backend"),
)
"""Pairs of a module of PyTorch and the part of the compiler that the module implements. To find the part at which a
thread works, depyf searches the stack of the thread for the innermost frame whose module, or a package around the
module, is in `_STAGES`."""


_ASYNC = "torch._inductor.async_compile"
_WAITING = ("_wait_futures", "wait")  # the function that waits for kernels; `wait` in PyTorch 2.6 and earlier


def _waiting_for(local: dict[str, Any]) -> str:
    """Returns which kernel Inductor waits for, such as "Inductor, C++ 3 of 7", from the local variables of the function
    that waits; "" if the variables do not show the kernel."""
    kernels, scope = local.get("kernels"), local.get("scope")
    if not isinstance(kernels, dict) or not isinstance(scope, dict) or not kernels:
        return ""
    left = sum(scope.get(name) is kernel for name, kernel in list(kernels.items()))
    languages = [
        words
        for start, words in (("cpp", "C++"), ("triton", "Triton"))
        if any(name.startswith(start) for name in kernels)
    ]
    return f"Inductor, {' and '.join(languages) or 'kernel'} {min(len(kernels), len(kernels) - left + 1)} of {len(kernels)}"


@guarded(dict)
def samples(without: int) -> dict[int, Sample]:
    """Returns a dict from the identifier of each thread that is compiling to the compilation that the thread is working
    on. The thread `without` is left out. The function can be called from any thread."""
    if _CONVERT not in sys.modules:
        return {}
    stacks = sys._current_frames()
    sample_of = {thread: _sample(frame) for thread, frame in stacks.items() if thread != without}
    return {thread: sample for thread, sample in sample_of.items() if sample is not None}


def _sample(innermost: types.FrameType | None) -> Sample | None:
    stage = ""
    backward: types.FrameType | None = None
    frame = innermost
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if module == _ASYNC and frame.f_code.co_name in _WAITING:
            stage = _waiting_for(frame.f_locals) or stage
        if not stage:
            stage = next((words for name, words in _STAGES if (module + ".").startswith(name + ".")), "")
        if module == _CONVERT and frame.f_code.co_name == "_compile":
            local = frame.f_locals
            code, compile_id = local.get("code"), local.get("compile_id")
            if not isinstance(code, types.CodeType):
                private.not_found(f"{_CONVERT}:code")
                return None
            name = getattr(code, "co_qualname", code.co_name)
            if compile_id is None:
                private.not_found(f"{_CONVERT}:compile_id")
            else:
                name = f"{name} {compile_id}"
            return Sample((id(frame), name), name, stage or "Dynamo")
        if module == "torch._inductor.compile_fx":
            backward = frame
        frame = frame.f_back
    # A backward graph is compiled when it is first called, so no frame of Dynamo is on the stack.
    return None if backward is None else Sample((id(backward), ""), "a backward", stage)
