"""The text of a graph, made once while nothing in the graph changes.

Inductor prints a graph before and after its passes, whether they changed it or not, and for itself what it has just
printed for the structured trace. Each print after the first is answered with the same text, if all that PyTorch reads
of the graph for it is the same object or has the same value.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from depyf.compat import intercept, private
from depyf.compat.unchanged import State

_AS_DUMPED = {"print_output": False, "include_stride": True, "include_device": True}
# With a simpler way to print expressions: the same where each is one symbol.
_SIMPLER = {**_AS_DUMPED, "fast_sympy_print": True}
_SYMBOLIC = re.compile(r'"Sym\((?!\w+\)")')
_META = ("val", "tensor_meta", "example_value", "stack_trace", "recompute", "ac_graph_id", "is_wrapped")


class _Kept(threading.local):
    """The last text of this thread; it holds the graph, so it is to be forgotten."""

    state: State | None = None
    options: Any = None
    text = ""


_kept = _Kept()


def forget() -> None:
    """To be called when a compilation ends."""
    _kept.state = None


def add_text_hook() -> Callable[[], None]:
    """Has texts of graphs made once. Returns what takes that away."""

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            if len(args) != 1 or (kwargs != _AS_DUMPED and kwargs != _SIMPLER):
                return original(*args, **kwargs)
            try:
                state = _state(args[0])
            except Exception:  # of another release, or nothing that such a graph has
                state = None
            if state is not None and _kept.state is not None and state.is_still(_kept.state):
                if kwargs == _kept.options or not _SYMBOLIC.search(_kept.text):
                    return _kept.text
            _kept.state = None
            text = original(*args, **kwargs)
            if state is not None and type(text) is str:
                _kept.state, _kept.options, _kept.text = state, kwargs, text
            return text

        return call

    take_away = intercept.around(private.get("torch.fx:GraphModule.print_readable"), answer)

    def remove() -> None:
        take_away()
        forget()

    return remove


def _state(module: Any) -> State | None:
    """None where more goes into the text than is looked at here."""
    graph = module.graph
    objects: list[Any] = [module, graph, graph._codegen]
    values: list[Any] = [type(module).__name__]
    if any(hasattr(child, "print_readable") for child in module.children()):
        return None
    env = None
    for node in graph.nodes:
        meta = node.meta
        if meta.get("custom"):
            return None
        noted = [meta.get(key) for key in _META]
        objects += (node, node.op, node.target, node.args, node.kwargs, node.type, *noted)
        values.append(node.name)
        value: Any = next((one for one in noted[:3] if one is not None), None)
        kind = type(value).__name__
        if kind in ("FakeTensor", "Tensor", "Parameter"):
            values += (value.dtype, value.device)
            for size in (*value.shape, *value.stride()):
                if type(size) is int:
                    values.append(size)
                else:
                    objects.append(size.node)
                    env = size.node.shape_env
        elif kind in ("SymInt", "SymFloat", "SymBool"):
            objects.append(value.node)
            env = value.node.shape_env
        elif value is not None and not isinstance(value, (int, float, str, tuple, list)):
            return None
    if env is not None:
        values.append(dict(env.replacements))  # with which symbols are printed
    return State(objects, values)
