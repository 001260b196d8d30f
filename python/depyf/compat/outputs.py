"""Determines the names of the outputs of compiled graphs, for graphs that are certain to return exactly their
outputs."""

from __future__ import annotations

import sys
import types
from typing import Any

from depyf import weak
from depyf.compat import at_work, callables, graphs, installed, private
from depyf.compat.private import guarded


@guarded(dict)
def outputs(code: types.CodeType) -> dict[str, tuple[str, ...]]:
    """Returns the names of the outputs of each compiled graph that transformed code calls, for graphs that are known to
    return a new tuple or list."""
    called = [name for name in code.co_names if name.startswith("__compiled_fn_")]
    if not called:
        return {}
    table = at_work.globals_being_compiled() or {}
    captured = _outputs_being_compiled() if len(called) == 1 and called[0] in table else None
    counts = {}
    for name in called:
        items = outputs_of_call(table[name] if name in table else installed.find_global(name), captured)
        if items:
            counts[name] = items
    return counts


def _outputs_being_compiled() -> tuple[str, ...] | None:
    """Returns the names of the outputs of the graph that is being compiled; None if the graph is not found, or returns
    no tuple or list. This function must be called within a bytecode hook. PyTorch does not pass the graph to bytecode
    hooks, so the graph is read from the frame of Dynamo's compiler.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        output = frame.f_locals.get("output") if frame.f_globals.get("__name__") == _CONVERT else None
        if type(output).__name__ == "OutputGraph":
            return outputs_of(private.of(output, "torch._dynamo.output_graph:OutputGraph.graph"))
        frame = frame.f_back
    return None


_captured: weak.Table[tuple[str, ...]] = weak.Table()
"""Maps the callable that AOTAutograd returned for a graph to the names of the graph's outputs. The names of the outputs
are known only while the graph is compiled. An item is removed when its callable is freed, and nothing else clears
`_captured`. `_captured` has no lock, as each write is one assignment; a forked child continues with its copy."""
_WRAPPERS_MAX = 8  # the largest number of wrappers that are removed from a function
_WRAPPERS = "torch._dynamo.eval_frame"  # the module of the wrappers that keep Dynamo out of a function


@guarded()
def outputs_of(graph: Any) -> tuple[str, ...] | None:
    """Returns names for the items of the tuple that a graph returns, with an empty name for a constant; None if the
    graph does not return a tuple or list."""
    result = next((node for node in reversed(graph.nodes) if node.op == "output"), None)
    items = None if result is None else result.args[0]
    return tuple(str(getattr(item, "name", "")) for item in items) if isinstance(items, (tuple, list)) else None


_CONVERT = "torch._dynamo.convert_frame"
_AOT = "torch._functorch.aot_autograd"


def _is_of_aot(function: types.FunctionType) -> bool:
    """True if AOTAutograd returned the callable `function` for a graph. A callable of AOTAutograd's returns the outputs
    in a new list or tuple, whatever the backend is."""
    of_module = function.__globals__.get("__name__") == _AOT
    return of_module and function.__qualname__.startswith("aot_module_simplified.")


def outputs_of_call(function: Any, captured: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Returns names for the items that a compiled graph returns in a new tuple or list; None if the backend of the
    graph is not PyTorch's own, because another backend can return any value.

    Args:
        function: the callable that Dynamo calls for the graph.
        captured: the names of the outputs of the graph that the backend received; None if the graph is not being
            compiled.
    """
    for _ in range(_WRAPPERS_MAX):
        if isinstance(function, types.MethodType) and function.__func__ is getattr(
            type(function.__self__), "forward", None
        ):
            function = function.__self__
        if graphs.is_graph_module(function):
            return outputs_of(function.graph)
        if isinstance(function, types.FunctionType):
            if _is_of_aot(function):
                if captured is not None:
                    _captured.set(function, captured)
                return _captured.get(function)
            maker = function.__globals__.get("__name__")
        else:
            maker = type(function).__module__
        if maker != _WRAPPERS:  # A wrapper of the backend's own can return anything.
            return None
        function = callables.wrapped(function)
    return None
