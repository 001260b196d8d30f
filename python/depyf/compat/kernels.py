"""Finds Inductor's output code behind a compiled graph, and replaces it by other output code for some calls only.

A compiled graph's `current_callable` calls the `call` of a file of output code with a list of inputs. For a graph that
is trained, AOTAutograd creates a class that leads to two compiled graphs, the forward and the backward. depyf notes in
the `metadata` of an autograd node which forward call its backward belongs to.

An edited entry shares its compiled graph with Dynamo's entry, because AOTAutograd's wrappers around the graph cannot be
copied. The callable of the graph is replaced by a switch that selects the kernels at each call, by the entry that makes
the call.
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
call. `instead` needs no lock, as each thread has its own value. The value of `instead` is cleared when the call
returns; the thread of a forked child is in the same call as its parent."""


class _Switch:
    """The callable of a compiled graph: it calls the graph's own callable, or the replacement of the entry that makes
    the call."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self.original = original

    def __call__(self, inputs: Any) -> Any:
        for instead in (getattr(_now, "instead", None), _of_node()):
            if instead and self in instead:
                return instead[self](inputs)
        return self.original(inputs)


Instead = dict[_Switch, Callable[..., Any]]
"""Maps the switch of a compiled graph to the callable that replaces the graph."""


@guarded()
def _of_node() -> Instead | None:
    """Returns the replacement kernels of the forward call that the running backward belongs to."""
    node = private.call("torch._C:_current_autograd_node")
    return None if node is None else node.metadata.get(_KEY)


@guarded(dict)
def compiled_graphs(function: object) -> dict[str, Any]:
    """Returns Inductor's compiled graphs by their direction. A compiled graph of a backward exists after its first run,
    which compiles it."""
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
    """Yields the objects that a callable leads to, each with its direction if the callable states one."""
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
    """Returns the function `call` of a file of output code; the constants of `graph` become globals of its module.

    Raises:
        SyntaxError, OSError: the file cannot be read.
        ValueError: loading the file raised an exception, or it defines no `call`.
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
        raise ValueError(f"{where}: loading it raised {type(error).__name__}: {error}") from error
    for name, value in (getattr(graph, "constants", None) or {}).items():
        setattr(module, name, value)
    call = getattr(module, "call", None)
    if not callable(call):
        raise ValueError(f"{path}: it defines no call(args): a file of Inductor's output code does")
    checked = private.of(graph, f"{_GRAPH}.inputs_to_check")
    mutated = private.of(graph, f"{_GRAPH}.mutated_input_idxs")
    align = "torch._inductor.utils:align_inputs_from_check_idxs"
    return private.call(align, call, checked, mutated, otherwise=call)  # type: ignore[no-any-return]


def with_kernels(function: Callable[..., Any], kernels: list[tuple[Any, Callable[..., Any]]]) -> Callable[..., Any]:
    """Returns a function that calls `function`, with other callables in place of those of the compiled graphs.

    Other callers of `function` still run the original kernels, at the same time and later.
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
    """Marks the autograd nodes of these outputs, so that their backward runs the replacement kernels."""
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
