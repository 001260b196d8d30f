"""Finds Inductor's output code behind a compiled graph, and replaces the output code for the calls of some cache
entries only.

A compiled graph's `current_callable` calls the `call` of a file of output code with a list of inputs. For a graph that
needs a backward, AOTAutograd creates a class that refers to two compiled graphs, the forward and the backward. If a
forward call runs replaced kernels, depyf notes the replacements in the `metadata` of the autograd nodes of its outputs,
so that the backward of this call uses them, too.

An edited entry shares its compiled graph with Dynamo's entry, because AOTAutograd's wrappers around the graph cannot be
copied. The callable of the graph is replaced by a `_Switch` object, which selects, at each call, the kernels of the
cache entry through which the graph is called.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from depyf.compat import private
from depyf.compat.private import guarded

DIRECTIONS = ("forward", "backward")
_MAX_OBJECTS = 20_000
_KEY = "depyf_kernels"
_GRAPH = "torch._inductor.output_code:CompiledFxGraph"

_now = threading.local()
"""The attribute `instead` contains, for each thread, the kernels that replace the graphs' own kernels in the current
call. `instead` needs no lock, as each thread has its own value. When the call returns, the previous value of
`instead` is restored; nothing else clears `instead`. A forked child keeps the value of `instead`, because its only
thread is in the same call as the thread that forked."""


class _Switch:
    """The callable of a compiled graph. A `_Switch` calls the graph's own callable, or, during a call of an edited
    cache entry, the callable with which the entry replaces the graph's own."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self.original = original

    def __call__(self, inputs: Any) -> Any:
        for instead in (getattr(_now, "instead", None), _of_node()):
            if instead and self in instead:
                return instead[self](inputs)
        return self.original(inputs)


Instead = dict[_Switch, Callable[..., Any]]
"""Maps the `_Switch` object of a compiled graph to the callable that replaces the graph."""


@guarded()
def _of_node() -> Instead | None:
    """Returns the replacement kernels of the forward call that the running backward belongs to; None outside of a
    backward, or if no kernels are replaced."""
    node = private.call("torch._C:_current_autograd_node")
    return None if node is None else node.metadata.get(_KEY)


@guarded(dict)
def compiled_graphs(function: object) -> dict[str, Any]:
    """Returns the compiled graphs of Inductor to which `function` leads, by their direction: "forward" or "backward".
    The compiled graph of a backward exists only after the first run of the backward, which compiles the graph."""
    graph_class = _graph_class()
    if graph_class is None:
        return {}
    todo: list[tuple[object, str]] = [(function, "forward")]
    seen: dict[int, object] = {}
    graphs: dict[str, Any] = {}
    for value, direction in todo:  # The list grows during the loop.
        if id(value) in seen or len(seen) >= _MAX_OBJECTS:
            continue
        seen[id(value)] = value
        if isinstance(value, graph_class):
            graphs.setdefault(direction, value)
        else:
            todo += [(inner, new or direction) for inner, new in _inside(value)]
    return graphs


def _inside(value: object) -> Iterator[tuple[object, str | None]]:
    """Yields the objects that a callable refers to, each with its direction ("forward" or "backward"); the direction is
    None if the reference does not determine it."""
    if isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            with contextlib.suppress(ValueError):
                yield cell.cell_contents, None
        yield from ((inner, None) for inner in vars(value).values())
    elif isinstance(value, types.MethodType):
        yield value.__self__, None
        yield value.__func__, None
    elif isinstance(value, functools.partial):
        yield from ((inner, None) for inner in (value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, type) and hasattr(value, "compiled_fw"):
        yield getattr(value, "compiled_fw"), "forward"  # noqa: B009
        yield getattr(value, "compiled_bw", None), "backward"
    elif type(value).__module__.startswith(("torch._functorch", "torch._inductor", "torch._dynamo")):
        yield from ((inner, None) for inner in getattr(value, "__dict__", {}).values())


def _graph_class() -> type | None:
    if "torch._inductor" not in sys.modules:
        return None
    graph_class: type | None = private.get("torch._inductor.output_code:CompiledFxGraph")
    return graph_class or private.get("torch._inductor.codecache:CompiledFxGraph")


def load(path: str, graph: Any) -> Callable[..., Any]:
    """Returns the function `call` of a file of output code. If `graph` needs aligned inputs, `call` is returned in
    PyTorch's wrapper that aligns the inputs. The constants of `graph` become globals of the file's module.

    Raises:
        SyntaxError, OSError: the file cannot be read.
        ValueError: executing the file raised an exception, or the file defines no `call`.
    """
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = types.ModuleType("depyf_kernel")
    module.__file__ = path
    try:
        exec(code, vars(module))
    except Exception as error:
        traceback = error.__traceback__
        line = None
        while traceback is not None:
            line = traceback.tb_lineno if traceback.tb_frame.f_code.co_filename == path else line
            traceback = traceback.tb_next
        where = f"{path}, line {line}" if line else path
        raise ValueError(f"{where}: loading the file raised {type(error).__name__}: {error}") from error
    for name, value in (getattr(graph, "constants", None) or {}).items():
        setattr(module, name, value)
    call = getattr(module, "call", None)
    if not callable(call):
        raise ValueError(f"{path}: the file is not output code of Inductor, because it does not define call(args)")
    checked = private.of(graph, f"{_GRAPH}.inputs_to_check")
    mutated = private.of(graph, f"{_GRAPH}.mutated_input_idxs")
    align = "torch._inductor.utils:align_inputs_from_check_idxs"
    return private.call(align, call, checked, mutated, otherwise=call)  # type: ignore[no-any-return]


def with_kernels(function: Callable[..., Any], kernels: list[tuple[Any, Callable[..., Any]]]) -> Callable[..., Any]:
    """Returns a function that calls `function`. `kernels` contains pairs of a compiled graph and a callable: during
    these calls, the graph runs the callable in place of its own output code.

    Other callers of `function` still run the original kernels, even while the returned function runs.
    """
    instead: Instead = {}
    for graph, call in kernels:
        if not isinstance(graph.current_callable, _Switch):
            graph.current_callable = _Switch(graph.current_callable)
        instead[graph.current_callable] = call

    def call_with_kernels(*args: Any) -> Any:
        before = getattr(_now, "instead", None)
        _now.instead = instead
        try:
            result = function(*args)
        finally:
            _now.instead = before
        _mark(result, instead)
        return result

    call_with_kernels.__wrapped__ = function  # type: ignore[attr-defined]
    return call_with_kernels


def _mark(result: Any, instead: Instead) -> None:
    """Marks the autograd nodes of the outputs `result`, so that their backward runs the replacement kernels."""
    todo = [getattr(tensor, "grad_fn", None) for tensor in (result if isinstance(result, (tuple, list)) else [result])]
    for _ in range(len(todo) * 4):  # A few views can be between an output and the autograd node of the compiled graph.
        if not todo:
            break
        node = todo.pop()
        if node is None:
            continue
        if hasattr(node, "saved_tensors"):  # The node is of a class written in Python.
            node.metadata[_KEY] = instead
        else:
            todo += [node for node, _ in node.next_functions]
