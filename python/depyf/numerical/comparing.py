"""Compares two forms of one graph, before and after compiler passes, and finds the first node whose value differs.

A node of the later graph corresponds to the node of the same name in the earlier graph, and outputs correspond by
position. A node with a new name corresponds to a removed node if it is an operand of a node whose counterpart had the
removed node as its operand at the same position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from depyf.numerical import measuring, values
from depyf.numerical.measuring import Deviation
from depyf.numerical.recording import output_nodes
from depyf.numerical.values import GraphValues


@dataclass
class Difference:
    """The first node of the later graph whose value differs from the corresponding value in the earlier graph by more
    than rounding explains."""

    node: Any
    """The node of the later graph at which the graphs differ; if a pass removed a node by mistake, the removed node of
    the earlier graph."""
    deviation: Deviation
    values: GraphValues
    """The values of all nodes of the graph that contains `node`."""
    is_left_out: bool = False
    instead_of: Any = None
    """If `node` is in the later graph and replaces a node of another operator: the replaced node of the earlier graph.
    Otherwise None."""


def outputs_differ(earlier: GraphValues, later: GraphValues) -> bool:
    """True if two forms of a graph, run on the same inputs, return different outputs or write different values into
    their inputs."""
    pairs = list(zip(output_nodes(earlier.module), output_nodes(later.module), strict=False))
    pairs += _mutations(earlier, later)
    return any(
        _deviation(earlier, left, later, right) is not None
        for left, right in pairs
        if left is not None and right is not None
    ) or len(output_nodes(earlier.module)) != len(output_nodes(later.module))


def _mutations(earlier: GraphValues, later: GraphValues) -> list[tuple[Any, Any]]:
    """Returns the pairs of `copy_` nodes, one from each graph, that write into the same input. Values that are written
    into inputs are results of the graphs, like the outputs."""
    left, right = copies_into_inputs(earlier.module), copies_into_inputs(later.module)
    return [(left[index], right[index]) for index in left if index in right]


def copies_into_inputs(module: Any) -> dict[int, Any]:
    """Returns a mapping from the index of each input that the graph overwrites to the last `copy_` node that writes
    into the input."""
    inputs = {node: index for index, node in enumerate(node for node in module.graph.nodes if node.op == "placeholder")}
    copies = {}
    for node in module.graph.nodes:
        if "copy_" in str(node.target) and node.args and node.args[0] in inputs:
            copies[inputs[node.args[0]]] = node
    return copies


def lost_mutation(earlier: GraphValues, later: GraphValues) -> Any:
    """Returns a `copy_` node of the earlier graph that overwrites an input which the later graph does not overwrite.
    Returns None if the later graph overwrites all inputs that the earlier graph overwrites, or if the later graph
    contains other mutating operators, which may overwrite the input instead."""
    left, right = copies_into_inputs(earlier.module), copies_into_inputs(later.module)
    if any(
        "copy_" not in str(node.target) and "_" in str(node.target) and _mutates(node)
        for node in later.module.graph.nodes
    ):
        return None
    return next((left[index] for index in left if index not in right), None)


def _mutates(node: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    return bool(schema is not None and schema.is_mutable)


def _deviation(earlier: GraphValues, left: Any, later: GraphValues, right: Any, noise: Any = None) -> Deviation | None:
    """Returns the errors of the node `right` of the later graph against the node `left` of the earlier graph. Returns
    None if rounding explains the errors, or if the value of one of the two nodes is unknown."""
    before, after = earlier.by_name.get(left.name), later.by_name.get(right.name)
    if before is None or after is None:
        return None
    errors = measuring.deviation(after.own, before.own, before.wide, noise)
    if errors.mismatch is None:
        if measuring.means_the_same(before.wide, after.wide):
            return None
        # The values agree in the graph's own type, but differ in the run in double precision, which is a fault only if
        # the graph's own type is exact, such as an integer type.
        return None if measuring.is_inexact(before.own) else errors
    return errors


def partners(earlier: Any, later: Any) -> dict[Any, Any]:
    """Returns a mapping from nodes of the later graph to the corresponding nodes of the earlier graph."""
    by_name = {node.name: node for node in earlier.graph.nodes}
    names_after = {node.name for node in later.graph.nodes}
    pairs: dict[Any, Any] = {}
    inputs = [[node for node in module.graph.nodes if node.op == "placeholder"] for module in (later, earlier)]
    pairs.update(zip(*inputs, strict=False))
    for node in later.graph.nodes:
        if node.op not in ("placeholder", "output") and node.name in by_name:
            pairs[node] = by_name[node.name]
    for right, left in zip(output_nodes(later), output_nodes(earlier), strict=False):
        if right is not None and left is not None:
            pairs.setdefault(right, left)
    for node in reversed(list(later.graph.nodes)):
        left = pairs.get(node)
        if left is None or len(left.all_input_nodes) != len(node.all_input_nodes):
            continue
        for source, source_before in zip(node.all_input_nodes, left.all_input_nodes, strict=True):
            if source not in pairs and source_before.name not in names_after:
                pairs[source] = source_before
    return pairs


def first_difference(earlier: GraphValues, later: GraphValues) -> Difference | None:
    """Returns the first node of the later graph whose value differs from the value of the corresponding node of the
    earlier graph; None if rounding explains all differences."""
    pairs = partners(earlier.module, later.module)
    noise: dict[str, Any] | None = None
    for node in later.module.graph.nodes:
        left = pairs.get(node)
        if left is None or node.op in ("placeholder", "output"):
            continue
        errors = _deviation(earlier, left, later, node)
        if errors is None:
            continue
        noise = values.noise(earlier) if noise is None else noise
        errors = _deviation(earlier, left, later, node, noise.get(left.name))
        if errors is not None:
            return _guilty(earlier, later, node, left, errors, pairs)
    for right, left in zip(output_nodes(later.module), output_nodes(earlier.module), strict=False):
        if right is None or left is None or pairs.get(right) is left:
            continue
        errors = _deviation(earlier, left, later, right)
        if errors is not None:
            # The earlier graph returns `left` as an output. A pass removed `left`, and at the same position of the
            # outputs the later graph returns another node, `right`.
            return Difference(left, errors, earlier, is_left_out=True)
    lost = lost_mutation(earlier, later)
    if lost is not None:
        return Difference(lost, Deviation(float("inf"), 0.0, None), earlier, is_left_out=True)
    return None


def _guilty(
    earlier: GraphValues, later: GraphValues, node: Any, left: Any, errors: Deviation, pairs: dict[Any, Any]
) -> Difference:
    """Returns the operator that is at fault for the difference of `node`, the first node whose value differs between
    the two graphs. The operator at fault is `node` itself, an operand of `node` that is new in the later graph, or an
    operand that a pass removed."""
    names_after = {other_node.name for other_node in later.module.graph.nodes}
    new = [source for source in node.all_input_nodes if source not in pairs and source.op != "placeholder"]
    if new:
        return Difference(new[-1], errors, later, instead_of=left)
    if len(left.all_input_nodes) == len(node.all_input_nodes) and str(left.target) == str(node.target):
        for source, before in zip(node.all_input_nodes, left.all_input_nodes, strict=True):
            if pairs.get(source) is not before and before.name not in names_after:
                return Difference(before, errors, earlier, is_left_out=True)
    return Difference(node, errors, later, instead_of=left if str(left.target) != str(node.target) else None)
