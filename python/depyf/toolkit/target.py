"""Describes the function to which cache entries belong, together with the data that a call of the function needs."""

from __future__ import annotations

import functools
import inspect
import types
from dataclasses import dataclass, field
from typing import Any

from depyf import _core
from depyf.compat import cache, callables
from depyf.recompile import signature

_REFUSED = {
    inspect.CO_GENERATOR: "a generator",
    inspect.CO_COROUTINE: "a coroutine",
    inspect.CO_ASYNC_GENERATOR: "an asynchronous generator",
}


@dataclass(frozen=True, eq=False)
class Target:
    """A function as Dynamo handles it: the code of its frames, and the values with which a frame begins."""

    code: types.CodeType
    globals: dict[str, Any]
    name: str
    defaults: tuple[Any, ...] | None = None
    kwdefaults: dict[str, Any] | None = None
    closure: tuple[types.CellType, ...] | None = None
    instance: Any = None
    """The object that a method is bound to; None for a function."""
    args: tuple[Any, ...] = ()
    """The arguments that are passed before the arguments of a call: the instance of a method, or the arguments of a
    `functools.partial`."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    backend: Any = None
    """The backend, if the `Target` was created from a result of `torch.compile`; None if it was created from a plain
    function."""

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Returns the locals with which a frame begins when the function is called: a mapping from the names of its
        arguments and free variables to their values.

        Raises:
            TypeError: the arguments do not fit the function; the message is Python's own.
        """
        arguments: dict[str, Any] = self._function(_binder(self.code), None)(
            *self.args, *args, **{**self.kwargs, **kwargs}
        )
        for name, cell in zip(self.code.co_freevars, self.closure or ()):
            try:
                arguments[name] = cell.cell_contents
            except ValueError:  # A free variable without a value is no local of a new frame.
                continue
        return arguments

    def call(self, code: types.CodeType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs `code` in the place of the function's own code.

        Raises:
            ValueError: the function's free variables are unknown.
        """
        return self.prepared(code, args, kwargs)()

    def prepared(self, code: types.CodeType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> functools.partial[Any]:
        """Returns a callable that runs `code` in the place of the function's own code.

        Raises:
            ValueError: the function's free variables are unknown.
        """
        if code.co_freevars and self.closure is None:
            raise ValueError(
                f"{self.name} has free variables ({', '.join(code.co_freevars)}) that are bound only while it is called: "
                "give a function with values for them (ResumeFunction.with_free_variables)"
            )
        function = self._function(code, self.closure if code.co_freevars else None)
        return functools.partial(function, *self.args, *args, **{**self.kwargs, **kwargs})

    def _function(self, code: types.CodeType, closure: tuple[types.CellType, ...] | None) -> types.FunctionType:
        function = types.FunctionType(code, self.globals, self.code.co_name, self.defaults, closure)
        function.__kwdefaults__ = self.kwdefaults
        function.__qualname__ = self.name
        return function


def find_target(value: Any) -> Target:
    """Returns a `Target` for the Python function behind `value`, which is a function, a method, a module, a
    `functools.partial`, or a result of `torch.compile` for one of these.

    Raises:
        TypeError: there is no function written in Python behind `value`.
    """
    if isinstance(value, Target):
        return value
    backend = None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    instance: Any = None
    seen: list[Any] = []  # The list keeps objects alive, because they are compared by identity.
    unwrapped = value
    while all(unwrapped is not known for known in seen):
        seen.append(unwrapped)
        if isinstance(unwrapped, types.MethodType):
            instance = unwrapped.__self__
            args = (instance, *args)
            unwrapped = unwrapped.__func__
        elif isinstance(unwrapped, functools.partial):
            args = (*unwrapped.args, *args)
            kwargs = {**unwrapped.keywords, **kwargs}
            unwrapped = unwrapped.func
        elif (inner := callables.compiled_in(unwrapped)) is not None:
            backend = backend or cache.backend_of(unwrapped)
            unwrapped = inner
        elif isinstance(unwrapped, types.FunctionType):
            return Target(
                unwrapped.__code__,
                unwrapped.__globals__,
                unwrapped.__qualname__,
                unwrapped.__defaults__,
                unwrapped.__kwdefaults__,
                unwrapped.__closure__,
                instance,
                args,
                kwargs,
                backend,
            )
        elif not isinstance(unwrapped, type) and (inner := callables.bound_call(unwrapped)) is not None:
            unwrapped = inner
    description = (
        f"the class {value.__qualname__}" if isinstance(value, type) else f"an object of type {type(value).__name__}"
    )
    raise TypeError(f"there is no Python function behind {description}: give a function, a method or a module")


def why_refused(code: types.CodeType) -> str | None:
    """Returns the reason why no entry for `code` can be edited or registered; None if this is possible."""
    for flag, kind in _REFUSED.items():
        if code.co_flags & flag:
            return (
                f"{code.co_name} is {kind}: Dynamo runs its frame in pieces, and an entry replaces a whole one. "
                "Register an entry for the function that calls it"
            )
    if not code.co_flags & inspect.CO_NEWLOCALS or not code.co_flags & inspect.CO_OPTIMIZED:
        return f"{code.co_name} is the body of a module or class: only functions have entries"
    return None


@functools.lru_cache(maxsize=256)
def _stub(written: str, hidden: tuple[tuple[str, str], ...]) -> types.CodeType:
    namespace: dict[str, Any] = {}
    exec(compile(f"def stub{written}: return locals()", "<depyf>", "exec", dont_inherit=True), namespace)
    code: types.CodeType = namespace["stub"].__code__
    return _core.with_locals(code, dict(hidden))


def _binder(code: types.CodeType) -> types.CodeType:
    """Returns code with the same parameters as `code`, which returns the dict of its locals. When the returned code is
    called, Python itself binds the arguments, and raises an error if they do not fit."""
    hidden = {name: f"__depyf_{i}" for i, name in enumerate(code.co_varnames) if not name.isidentifier()}
    return _stub(signature(_core.with_locals(code, hidden)), tuple((short, name) for name, short in hidden.items()))
