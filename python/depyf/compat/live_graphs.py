"""Finds the graph module behind a compiled function, if the graph module is still alive.

The attribute `_dynamo_source` of a graph's placeholders distinguishes Dynamo's graph from a graph that a backend
derived from it. Each backend keeps the graph in a different place: the eager backend returns the graph's method
`forward`, for example, and AOTAutograd passes methods of the graph to its own functions. The search follows the
closures, attributes and bound objects that the compiled function leads to, up to `_MAX_OBJECTS` objects. If the search
does not find the graph, the backend has released the graph.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from depyf.compat.private import guarded

_MAX_OBJECTS = 400


@guarded()
def graph_module(function: object) -> Any:
    """Returns the FX graph that Dynamo passed to the backend; None if the graph is not found."""
    try:
        from torch.fx import GraphModule

        import torch
    except ImportError:
        return None
    todo: list[object] = [function]
    seen: set[int] = set()
    while todo and len(seen) < _MAX_OBJECTS:
        value = todo.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, GraphModule):
            if any(source(node) is not None for node in placeholders(value)) or "dynamo_compile_id" in value.meta:
                return value
        elif isinstance(value, torch.nn.Module):
            # The result of a backend can be a module; Dynamo 2.2 wraps the result in a module of its own.
            todo += list(value.children())
        elif isinstance(value, types.FunctionType):
            todo += [content for cell in value.__closure__ or () if (content := _content(cell)) is not None]
            todo += list(vars(value).values())
        elif type(value).__module__ == "torch._dynamo.aot_compile_types":  # The graph was compiled ahead of time.
            todo += list(vars(value).values())
        elif isinstance(value, types.MethodType):
            todo += [value.__self__, value.__func__]
        elif isinstance(value, functools.partial):
            todo += [value.func, *value.args, *value.keywords.values()]
    return None


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None


@guarded(list)
def placeholders(graph_module: Any) -> list[Any]:
    """Returns the placeholder nodes of a graph, which are its inputs, in order."""
    return [node for node in graph_module.graph.nodes if node.op == "placeholder"]


def source(placeholder: Any) -> str | None:
    """Returns the expression over L and G from which Dynamo takes an input of a graph; None if Dynamo does not record
    the expression."""
    dynamo_source = getattr(placeholder, "_dynamo_source", None)
    if dynamo_source is None:
        return None
    name = getattr(dynamo_source, "name", None)
    try:
        return str(name() if callable(name) else name)
    except Exception:
        return None


def inputs(graph_module: Any) -> list[tuple[str, str]]:
    """Returns a pair for each input of a captured graph: its name, and the expression from which Dynamo takes its
    value; "" if the expression is unknown."""
    return [(node.name, source(node) or "") for node in placeholders(graph_module)]
