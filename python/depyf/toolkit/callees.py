"""Finds the functions that the code of a cache entry calls: compiled graphs, and resume functions after graph
breaks."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from depyf import _core, names
from depyf.compat import cache, installed, live_graphs
from depyf.toolkit.target import Target

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry


@dataclass(frozen=True)
class Graph:
    """A graph that an entry's code calls."""

    name: str
    """The name of the graph in the decompiled source, such as `__compiled_fn_1`."""
    full_name: str
    """The global name by which the code calls the graph."""
    function: Any = field(repr=False)
    """The callable that the backend returned for the graph, which the entry's code calls."""
    graph_module: Any = field(repr=False)
    """The `torch.fx.GraphModule` that Dynamo passed to the backend; None if the backend has released the graph
    module."""
    placeholders: tuple[tuple[str, str | None], ...] = ()
    """A pair for each input of the graph, in order: the name of the input, and Dynamo's name for the value that is
    passed; empty if the graph module has been released."""


@dataclass(frozen=True)
class ResumeFunction:
    """A function that an entry's code calls to continue after a graph break. The function `depyf.cache_entries` accepts
    a `ResumeFunction`."""

    name: str
    full_name: str
    code: types.CodeType = field(repr=False)
    globals: dict[str, Any] = field(repr=False)
    function: types.FunctionType | None = field(repr=False)
    """The resume function itself; None if it has free variables, because transformed code then creates a new function
    at each run."""

    def with_free_variables(self, **values: Any) -> types.FunctionType:
        """Returns a new function with the code of the resume function and the given values for its free variables.

        Raises:
            ValueError: a value is missing, or belongs to no free variable.
        """
        free = self.code.co_freevars
        if set(values) != set(free):
            raise ValueError(f"{self.name} has the free variables {', '.join(free) or 'none'}, not {', '.join(values)}")
        cells = tuple(types.CellType(values[name]) for name in free)
        return types.FunctionType(self.code, self.globals, self.code.co_name, None, cells)


def graphs(code: types.CodeType, bound: Mapping[str, Any]) -> list[Graph]:
    """Returns the graphs that transformed code calls, in the order in which `co_names` of the code lists their names.

    Args:
        bound: a mapping from global names of the code to the objects that they stand for.
    """
    called = []
    for name in _core.global_names(code):
        if names.compiled_fn_number(name) is None or name not in bound:
            continue
        function = bound[name]
        module = live_graphs.graph_module(function)
        inputs = () if module is None else live_graphs.placeholders(module)
        pairs = tuple((str(node.name), live_graphs.source(node)) for node in inputs)
        called.append(Graph(names.shorten(name), name, function, module, pairs))
    return called


def resume_functions(transformed: types.CodeType, bound: Mapping[str, Any], target: Target) -> list[ResumeFunction]:
    """Returns the resume functions that transformed code calls after its graph breaks. `transformed` is the transformed
    code, and `bound` maps the code's global names to the objects that they stand for."""
    functions = []
    for name in _core.global_names(transformed):
        function = bound.get(name)
        if not installed.is_resume_name(name) or not isinstance(function, types.FunctionType):
            continue
        code = installed.resume_code(function)
        if code is None:
            continue
        plain = function if function.__code__ is code else None
        functions.append(ResumeFunction(names.shorten(name), name, code, installed.resume_globals(function), plain))
    for const in transformed.co_consts:  # Before 2.7, a resume function with free variables is made where it is called.
        if type(const) is types.CodeType and installed.is_resume_code(const):
            functions.append(ResumeFunction(const.co_name, const.co_name, const, target.globals, None))
    return functions


def bound_names(code: types.CodeType, target: Target) -> dict[str, Any]:
    """Returns the globals that Dynamo made for transformed code, with their current values."""
    own = set(_core.global_names(target.code))
    installed = set(cache.installed_names(code))
    bound = {}
    for name in _core.global_names(code):
        is_installed = name in installed or (name.startswith("__") and not name.endswith("__"))
        if is_installed and name not in own and name in target.globals:
            bound[name] = target.globals[name]
    return bound


def by_name(copy: CacheEntry, given: Any, argument: str) -> dict[str, Any]:
    """Returns a mapping from the full names of graphs to their replacements. `given` is a mapping from names of graphs
    to replacements. If the code calls only one graph, `given` can be its replacement.

    Raises:
        ValueError: the code calls no graph; or `given` names an unknown graph; or `given` is a single replacement, but
            the code calls several graphs.
    """
    graphs = {graph.full_name: graph for graph in copy.graphs}
    if not graphs:
        raise ValueError(f"{copy.target.name}: the code calls no graph")
    if not isinstance(given, Mapping):
        if len(graphs) > 1:
            known = ", ".join(graph.name for graph in graphs.values())
            raise ValueError(f"{copy.target.name} calls several graphs: pass {argument}= a mapping from {known}")
        return {next(iter(graphs)): given}
    graph_by_name = {}
    for name, replacement in given.items():
        full = [full for full, graph in graphs.items() if name in (full, graph.name)]
        if not full:
            known = ", ".join(graph.name for graph in graphs.values())
            raise ValueError(f"{copy.target.name} calls no graph {name!r}: it calls {known}")
        graph_by_name[full[0]] = replacement
    return graph_by_name
