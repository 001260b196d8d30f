"""Functions that were compiled ahead of time: those that `aot_compile` returns, and those that PyTorch loads from a
file.

Functions that were compiled ahead of time are not in Dynamo's cache. PyTorch checks the guards of a function that was
compiled ahead of time at each call, and raises an error if a guard fails.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from depyf.compat import dynamo, intercept, private
from depyf.compat.private import guarded

_AHEAD = "torch._dynamo.aot_compile"

Step = Literal["compile", "load", "precompile"]
"""The three ways in which a compiled function comes about without Dynamo's cache: PyTorch compiles it ahead of time,
loads it from a file, or captures it with `torch.compiler.precompile`."""


@dataclass(frozen=True)
class Compiled(dynamo.Live):
    """A function that was compiled ahead of time and is still alive. A `Compiled` object refers to PyTorch's live
    guards, so it has to be used at once, and must not be kept."""

    original: types.CodeType | None = None
    function: types.FunctionType | None = None
    """The function that runs if the guards hold."""
    backend_name: str = ""
    result: Any = None
    """PyTorch's object that represents the function, and that the user calls."""
    model: Any = None
    """The argument that precedes the caller's arguments: the module of a compiled model; None for a function."""

    def find_global(self, name: str) -> object:
        """Returns the value of a global of the transformed code, which has a table of globals of its own; None if the
        table has no such name."""
        scope = getattr(self.function, "__globals__", {})
        value = scope.get(name)
        if not isinstance(value, private.get(f"{_AHEAD}_types:GraphModuleSerializableCallable") or ()):
            return value
        return private.of(value, f"{_AHEAD}_types:GraphModuleSerializableCallable.graph_module")


def functions(value: Any) -> list[Compiled]:
    """Returns the functions that were compiled ahead of time and that `value` refers to; an empty list if there are no
    such functions. A compiled model has one function for each set of inputs for which the model was compiled."""
    own = getattr(value, "__dict__", {})
    inner = own.get("forward") if isinstance(own, dict) else None
    for candidate in (value, inner):
        if type(candidate).__module__ == _AHEAD:
            return _functions(candidate)
    return []


@guarded(list)
def _functions(value: Any) -> list[Compiled]:
    if isinstance(value, private.get(f"{_AHEAD}:AOTCompiledModel") or ()):
        results = private.of(value, f"{_AHEAD}:AOTCompiledModel.compiled_results", otherwise=[])
        model = private.of(value, f"{_AHEAD}:AOTCompiledModel.model")
        return [dataclasses.replace(compiled, model=model) for result in results for compiled in _functions(result)]
    if not isinstance(value, private.get(f"{_AHEAD}:AOTCompiledFunction") or ()):
        return []
    artifacts = private.of(value, f"{_AHEAD}:AOTCompiledFunction._artifacts")
    function = private.of(value, f"{_AHEAD}:AOTCompiledFunction.fn")
    original = private.of(artifacts, f"{_AHEAD}:CompileArtifacts.original_code")
    manager = private.of(artifacts, f"{_AHEAD}:CompileArtifacts.guard_manager")
    if function is None or original is None:
        return []
    name = str(private.of(artifacts, f"{_AHEAD}:CompileArtifacts.backend_name", otherwise=""))
    return [Compiled(None, manager, function.__code__, None, original, function, name, value)]


def caller_of(frame: types.FrameType) -> Compiled | None:
    """Returns the function that a frame runs, if the function was compiled ahead of time and PyTorch's own object for
    the function called it; None for any other frame."""
    caller = frame.f_back
    if caller is None or caller.f_globals.get("__name__") != _AHEAD:
        return None
    found = functions(caller.f_locals.get("self"))
    return next((compiled for compiled in found if compiled.code is frame.f_code), None)


def failure(compiled: Compiled, bound: dict[str, Any]) -> str | None:
    """Returns why the guards would refuse a call with the locals `bound`; None if the guards would accept the call."""
    return dynamo.failure_of(compiled.guard_manager, bound)


def add_hook(began: Callable[[], None], ended: Callable[[Compiled | None], None]) -> Callable[[], None]:
    """Calls `began()` before a function is compiled ahead of time, and `ended(compiled)` afterwards; `compiled` is None
    if the compilation failed. Returns a function that removes the callbacks `began` and `ended`."""
    return _around(private.get(f"{_AHEAD}:aot_compile_fullgraph"), began, ended)


def add_load_hook(began: Callable[[], None], ended: Callable[[Compiled | None], None]) -> Callable[[], None]:
    """Calls `began()` before a function is loaded from a file, and `ended(compiled)` afterwards; `compiled` is None if
    loading failed. Returns a function that removes the callbacks `began` and `ended`."""
    method = private.get(f"{_AHEAD}:AOTCompiledFunction.deserialize")
    return _around(getattr(method, "__func__", None), began, ended)


def _around(function: Any, began: Callable[[], None], ended: Callable[[Compiled | None], None]) -> Callable[[], None]:
    """Calls `began` before each call of a function of PyTorch, and `ended` after the call. The argument of `ended` is
    the compiled function that the call returned; None if the call returned no compiled function."""

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            began()
            result = None
            try:
                result = original(*args, **kwargs)
                return result
            finally:
                ended(next(iter(functions(result)), None))

        return call

    interception = intercept.Interception(function, answer)
    interception.set(may_be_compiled=True)
    return interception.take_away


def run_from(compiled: Compiled, code: types.CodeType) -> None:
    """Replaces the code of a function that nobody has called yet by equivalent code. If PyTorch saves the function to a
    file, the file still contains PyTorch's own code."""
    function: Any = compiled.function
    if function is not None:
        function.__code__ = code
