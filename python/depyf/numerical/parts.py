"""Copies parts of a graph into modules of their own, and maps the inputs of such a module to nodes of the whole
graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

SOURCE = "depyf_source"
"""A key in the `meta` of each placeholder of a part of a graph, under which is the node of the whole graph that
computes the placeholder's value."""


def part(module: Any, nodes: Iterable[Any], outputs: list[Any]) -> Any:
    """Returns a module that contains only the given nodes of a graph. Each other node of the graph that these nodes
    read becomes an input of the module.

    Args:
        nodes: the nodes that the module contains, in the order of the graph.
        outputs: those of the nodes `nodes` whose values the module returns as a tuple.
    """
    import torch

    graph = torch.fx.Graph()
    copies: dict[Any, Any] = {}
    chosen = list(nodes)
    members = set(chosen)
    for node in chosen:
        for source in node.all_input_nodes:
            if source in copies or source in members:
                continue
            if source.op == "get_attr":
                copies[source] = graph.node_copy(source)
            else:
                copies[source] = graph.placeholder(source.name)
                copies[source].meta = {**source.meta, SOURCE: source}
    for node in chosen:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[node] for node in outputs))
    return torch.fx.GraphModule(module, graph)


def boundary(module: Any) -> list[Any]:
    """Returns, for each input of a part of a graph, the node of the whole graph whose value the input receives."""
    return [node.meta[SOURCE] for node in module.graph.nodes if node.op == "placeholder"]


def read_outside(nodes: list[Any]) -> list[Any]:
    """Returns those nodes of `nodes` that are read by a node outside of `nodes`. If there are no such nodes, returns a
    list with the last node of `nodes`."""
    members = set(nodes)
    read = [node for node in nodes if any(user not in members for user in node.users)]
    return read or nodes[-1:]
