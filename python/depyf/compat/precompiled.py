"""`torch.compiler.precompile`, which captures the graph of a function without Dynamo, and writes the graph as a
separate program.

A function that `torch.compiler.precompile` captured has no transformed bytecode and no guards: the program that
`precompile` wrote checks the shapes and types of its arguments itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from depyf.compat import intercept, private

_MODULE = "torch._precompile"


def loaded_function(value: Any) -> Any:
    """Returns the function that a loaded program runs; None if the value is not a program of
    `torch.compiler.precompile`."""
    if type(value).__module__ != _MODULE or not isinstance(value, private.get(f"{_MODULE}:PrecompiledModule") or ()):
        return None
    return private.of(value, f"{_MODULE}:PrecompiledModule._loaded_forward")


def add_hook(began: Callable[[Any], None], ended: Callable[[Any, bool], None]) -> Callable[[], None]:
    """Calls `began(function)` before a function is captured, and `ended(graph, succeeded)` after the function was
    lowered, or the attempt failed; `graph` is None if no graph was captured. Returns a function that removes the
    callbacks `began` and `ended`."""
    function = private.get(f"{_MODULE}:PrecompiledModule._compile")

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            began(private.of(args[0], f"{_MODULE}:PrecompiledModule._fn"))
            succeeded = False
            try:
                result = original(*args, **kwargs)
                succeeded = True
                return result
            finally:
                ended(private.of(args[0], f"{_MODULE}:PrecompiledModule._gm"), succeeded)

        return call

    interception = intercept.Interception(function, answer)
    interception.set(may_be_compiled=True)
    return interception.take_away
