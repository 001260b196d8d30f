"""Functions that were compiled ahead of time: what `aot_compile` returns, and what is loaded from its file.

They are no entries of Dynamo's cache. PyTorch checks their guards at each call, and raises where these refuse it.
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

Step = Literal["compile", "load"]
"""The two ways to a function that was compiled ahead of time: PyTorch compiles it, or loads it from a file."""


@dataclass(frozen=True)
class Compiled(dynamo.Live):
    """One function that was compiled ahead of time, alive; to be used at once."""

    original: types.CodeType | None = None
    function: types.FunctionType | None = None
    """What runs where the guards hold."""
    backend_name: str = ""
    result: Any = None
    """PyTorch's object for it, which is called."""
    model: Any = None
    """What PyTorch calls it with before the caller's arguments: the module of a compiled model; None for a function."""

    def find_global(self, name: str) -> object:
        """Returns the value of a global of the transformed code, which is in a table of its own; None if there is none."""
        scope = getattr(self.function, "__globals__", {})
        value = scope.get(name)
        if not isinstance(value, private.get(f"{_AHEAD}_types:GraphModuleSerializableCallable") or ()):
            return value
        return private.of(value, f"{_AHEAD}_types:GraphModuleSerializableCallable.graph_module")


def functions(value: Any) -> list[Compiled]:
    """Returns what was compiled ahead of time behind a value: one function for each input of a model; empty if nothing was."""
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
    """Returns the function that a frame runs, if it was compiled ahead of time and called as PyTorch's object for it."""
    caller = frame.f_back
    if caller is None or caller.f_globals.get("__name__") != _AHEAD:
        return None
    found = functions(caller.f_locals.get("self"))
    return next((compiled for compiled in found if compiled.code is frame.f_code), None)


def failure(compiled: Compiled, bound: dict[str, Any]) -> str | None:
    """Returns why the guards would refuse a call with these locals; None where they would not."""
    return dynamo.failure_of(compiled.guard_manager, bound)


def add_hook(began: Callable[[], None], ended: Callable[[Compiled | None], None]) -> Callable[[], None]:
    """Calls `began()` when a function is going to be compiled ahead of time, and `ended(compiled)` when it was; with None where
    that failed. Returns what takes the hook away."""
    return _around(private.get(f"{_AHEAD}:aot_compile_fullgraph"), began, ended)


def add_load_hook(began: Callable[[], None], ended: Callable[[Compiled | None], None]) -> Callable[[], None]:
    """Calls `began()` when a function is going to be loaded from a file, and `ended(compiled)` when it was; with None where that
    failed. Returns what takes the hook away."""
    method = private.get(f"{_AHEAD}:AOTCompiledFunction.deserialize")
    return _around(getattr(method, "__func__", None), began, ended)


def _around(function: Any, began: Callable[[], None], ended: Callable[[Compiled | None], None]) -> Callable[[], None]:
    """Calls `began` before each call of a function of PyTorch, and `ended` behind it with what the call returned."""

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
    """Makes a function that nobody has called yet run other code that does the same. PyTorch saves the code that it made."""
    function: Any = compiled.function
    if function is not None:
        function.__code__ = code
