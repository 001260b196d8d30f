"""Copies parts of a graph into modules of their own, and maps the inputs of such a module to nodes of the whole
graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

SOURCE = "depyf_source"
"""The key in the `meta` of a part's placeholder for the node of the whole graph that computes the placeholder's
value."""


def part(module: Any, nodes: Iterable[Any], outputs: list[Any]) -> Any:
    """Returns a module that contains only some nodes of a graph; each further node that these nodes read becomes an
    input of the module.

    Args:
        nodes: the nodes, in the order of the graph.
        outputs: the chosen nodes whose values the module returns as a tuple.
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
    """Returns the nodes of the whole graph whose values the inputs of a part receive."""
    return [node.meta[SOURCE] for node in module.graph.nodes if node.op == "placeholder"]


def read_outside(nodes: list[Any]) -> list[Any]:
    """Returns the nodes of a list that nodes outside of the list read; the last node of the list if there are none."""
    members = set(nodes)
    read = [node for node in nodes if any(user not in members for user in node.users)]
    return read or nodes[-1:]
