"""Makes modules of parts of graphs, and finds what the nodes of a graph stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

SOURCE = "depyf_source"
"""The key in a placeholder's meta for the node of the whole graph whose value it stands for."""


def part(module: Any, nodes: Iterable[Any], outputs: list[Any]) -> Any:
    """Returns a module of some nodes of a graph. The other nodes that they read become its inputs.

    Args:
        nodes: the nodes, in the order of the graph.
        outputs: those of the nodes whose values the part returns, in a tuple.
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
    """Returns the nodes of the whole graph that the inputs of a part stand for."""
    return [node.meta[SOURCE] for node in module.graph.nodes if node.op == "placeholder"]


def read_outside(nodes: list[Any]) -> list[Any]:
    """Returns those of some nodes that other nodes read; the last one if none is read."""
    members = set(nodes)
    read = [node for node in nodes if any(user not in members for user in node.users)]
    return read or nodes[-1:]
