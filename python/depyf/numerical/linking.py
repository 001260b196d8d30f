"""Compares the captured graph with the graph that AOTAutograd traced from it. Finds the captured operator whose
decomposition or backward formula is wrong.

In each node of the traced ATen graph, PyTorch records the captured node from which the ATen node was traced. An
operator of the captured graph is right if one of the ATen nodes that were traced from it has the same value. For the
backward, autograd computes the gradient of each captured value in double precision. A gradient is right if one of the
traced backward nodes has the same value.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

from depyf.compat import fx_nodes
from depyf.numerical import measuring
from depyf.numerical.measuring import Deviation, Mismatch
from depyf.numerical.recording import GraphCall, copy_values
from depyf.numerical.replaying import surroundings, tangents_of, wide_copies
from depyf.numerical.values import GraphValues
from depyf.numerical.walking import Tape, Walk, perturbed

_GRADIENT_TOLERANCE = 1e-5
"""The allowed difference of two gradients in double precision, relative to the largest element; it is large because
attention kernels use single-precision functions even for doubles."""


@dataclass
class CapturedFault:
    """An operator of the captured graph whose value or gradient the traced ATen operators compute wrongly."""

    node: Any
    """The node in the captured graph."""
    target: str
    """The ATen operator that was decomposed, such as `aten.gelu.default`; "" if PyTorch did not record this
    operator."""
    deviation: Deviation
    own: Any
    inputs: list[tuple[str, Any]]
    is_backward: bool = False


@dataclass
class _Captured:
    """The values and gradients of the captured graph's nodes."""

    values: dict[str, Any]
    """Maps the name of a node to a copy of its value in the graph's own types, which was made as soon as the node was
    computed."""
    wide: dict[str, Any]
    gradients: dict[str, Any]
    """Maps the name of a node to the gradient of its value in double precision."""
    tape: Tape
    noise: dict[str, Any] = field(default_factory=dict)
    """Maps the name of a node to a sample of the change that rounding makes to its value."""


def first_fault(module: Any, call: GraphCall, traced: GraphValues) -> CapturedFault | None:
    """Returns the first captured operator whose value or gradient the traced graph computes wrongly; None if all values
    and gradients are right.

    Args:
        module: the captured graph.
        call: the recorded call on whose inputs the two graphs are compared.
        traced: the values of all nodes of the traced graph, which is the joint graph or only the forward graph.
    """
    rows = fx_nodes.rows(traced.module)
    by_name = {row.name: row for row in rows}
    of_source: dict[str, list[Any]] = {}
    originals: dict[str, str] = {}
    for row in rows:
        for source in row.sources:
            value = traced.by_name.get(row.name)
            if value is not None and not row.backward and _is_read_elsewhere(value.node, row, by_name):
                of_source.setdefault(source.name, []).append(value)
            if row.original and not row.backward:
                originals.setdefault(source.name, row.original)
    captured = _run(module, call)
    captured.noise = _noise(module, call, captured)
    fault = _forward(module, captured, of_source, originals)
    return fault if fault is not None else _backward(module, captured, traced, rows, originals)


def _is_read_elsewhere(node: Any, row: fx_nodes.NodeRow, by_name: dict[str, fx_nodes.NodeRow]) -> bool:
    """`node` was traced from a captured operation. Returns true if the output node of the graph, or a node that was
    traced from another captured operation, reads `node`: then `node` computes the result of its captured operation.
    Returns false if only nodes of the same captured operation read `node`."""
    for user in node.users:
        reader = by_name.get(user.name)
        if reader is None or reader.backward != row.backward:
            return True
        if (reader.seq_nr != row.seq_nr) if row.backward else (reader.sources != row.sources):
            return True
    return False


def _run(module: Any, call: GraphCall) -> _Captured:
    import torch

    tape = Tape()
    own: dict[str, Any] = {}
    wide: dict[str, Any] = {}
    gradients: dict[str, Any] = {}
    with surroundings(call):
        for node, value in Walk(module, _given(copy_values(call.inputs), call), tape):
            if isinstance(value, torch.Tensor):
                own[node.name] = value.detach().clone()
    with surroundings(call):
        walk = Walk(module, _given(wide_copies(call.inputs), call), tape, is_double=True)
        for node, value in walk:
            if not isinstance(value, torch.Tensor):
                continue
            wide[node.name] = value.detach().clone()
            if value.requires_grad and value.grad_fn is not None:
                value.register_hook(lambda gradient, name=node.name: _keep(gradients, name, gradient))
        outputs = walk.output if isinstance(walk.output, (list, tuple)) else [walk.output]
        tangents = tangents_of(call, list(outputs))
        rooted = [
            index for index in tangents if isinstance(outputs[index], torch.Tensor) and outputs[index].requires_grad
        ]
        if rooted:
            with contextlib.suppress(RuntimeError):
                torch.autograd.backward(
                    [outputs[index] for index in rooted],
                    [tangents[index].to(outputs[index].dtype) for index in rooted],
                )
    return _Captured(own, wide, gradients, tape)


def _noise(module: Any, call: GraphCall, captured: _Captured) -> dict[str, Any]:
    import torch

    noise: dict[str, Any] = {}
    for seed in range(2):
        generator = torch.Generator().manual_seed(seed + 5)
        with surroundings(call), torch.no_grad():
            inputs = perturbed(
                [value.detach() if hasattr(value, "detach") else value for value in copy_values(call.inputs)], generator
            )
            for node, value in Walk(module, inputs, captured.tape, is_double=True, noise=generator):
                known = captured.wide.get(node.name)
                if known is None or not isinstance(value, torch.Tensor) or not measuring.is_inexact(value):
                    continue
                if value.shape == known.shape:
                    difference = (value.detach() - known).abs()
                    before = noise.get(node.name)
                    noise[node.name] = difference if before is None else torch.maximum(before, difference)
    return noise


def _given(values: list[Any], call: GraphCall) -> list[Any]:
    import torch

    return [
        value.clone()
        if isinstance(value, torch.Tensor) and value.requires_grad and not is_leaf and call.grad_enabled
        else value
        for value, is_leaf in zip(values, call.are_leaves, strict=True)
    ]


def _keep(gradients: dict[str, Any], name: str, gradient: Any) -> None:
    gradients[name] = gradient.detach().clone()


def _same_numbers(left: Any, right: Any) -> bool:
    if left.numel() != right.numel() or sorted(left.shape) != sorted(right.shape):
        return False
    if left.shape != right.shape:
        left, right = left.reshape(-1), right.reshape(-1)
    return measuring.means_the_same(left, right, _GRADIENT_TOLERANCE)


def _forward(
    module: Any, captured: _Captured, of_source: dict[str, list[Any]], originals: dict[str, str]
) -> CapturedFault | None:
    for node in module.graph.nodes:
        expected, own = captured.wide.get(node.name), captured.values.get(node.name)
        candidates = [
            value
            for value in of_source.get(node.name, ())
            if expected is not None and value.wide.shape == expected.shape
        ]
        if not candidates or own is None:
            continue
        right = [value for value in candidates if measuring.means_the_same(expected, value.wide)]
        chosen = right or candidates
        errors = [
            measuring.deviation(
                value.own.to(own.dtype), own, expected, captured.noise.get(node.name) if right else None
            )
            for value in chosen
            if measuring.is_inexact(value.own) == measuring.is_inexact(own)
        ]
        if not errors or any(error.mismatch is None for error in errors):
            continue
        inputs = [
            (source.name, captured.values[source.name])
            for source in node.all_input_nodes
            if source.name in captured.values
        ]
        return CapturedFault(node, originals.get(node.name, ""), errors[-1], own, inputs)
    return None


def _backward(
    module: Any, captured: _Captured, traced: GraphValues, rows: list[Any], originals: dict[str, str]
) -> CapturedFault | None:
    tangents = [value for name, value in traced.by_name.items() if name.startswith("tangents")]
    # If the traced graph has no tangents, it is the forward graph alone, and has no gradients to check, even if the
    # partitioner moved some nodes of the backward into it.
    if not tangents:
        return None
    by_name = {row.name: row for row in rows}
    in_backward = [
        traced.by_name[row.name]
        for row in rows
        if row.backward
        and row.name in traced.by_name
        and _is_read_elsewhere(traced.by_name[row.name].node, row, by_name)
    ]
    if not in_backward:
        return None
    in_backward += tangents
    wrong: list[Any] = []
    for node in reversed(list(module.graph.nodes)):
        gradient = captured.gradients.get(node.name)
        if gradient is None or any(_same_numbers(gradient, value.wide) for value in in_backward):
            continue
        wrong.append(node)
    for node in wrong:  # The backward of a node's readers computes the node's gradient, so a reader is at fault.
        readers = [user for user in node.users if user.op != "output"]
        sound = [user for user in readers if user.name in captured.gradients and user not in wrong]
        for user in sound or readers:
            gradient = captured.gradients[node.name]
            nearest = _nearest(gradient, in_backward)
            found, expected = nearest if nearest is not None else ("missing", float(gradient.flatten()[0]))
            mismatch = Mismatch((), found, expected, expected, float("inf"), 0.0, gradient.numel(), gradient.numel())
            inputs = [
                (source.name, captured.values[source.name])
                for source in user.all_input_nodes
                if source.name in captured.values
            ]
            deviation = Deviation(float("inf"), 0.0, mismatch)
            return CapturedFault(
                user, originals.get(user.name, ""), deviation, captured.values[node.name], inputs, is_backward=True
            )
    return None


def _nearest(gradient: Any, candidates: list[Any]) -> tuple[float, float] | None:
    """Returns (element of the nearest candidate, element of the gradient) at the position at which the candidate and
    the gradient differ most; None if no candidate has the gradient's shape."""
    best: tuple[float, float, float] | None = None
    for value in candidates:
        if value.wide.shape != gradient.shape or not measuring.is_inexact(value.wide) or gradient.numel() == 0:
            continue
        errors = (value.wide - gradient).abs().flatten()
        place = int(errors.argmax())
        row = float(errors[place]), float(value.wide.flatten()[place]), float(gradient.flatten()[place])
        best = row if best is None or row[0] < best[0] else best
    return (best[1], best[2]) if best is not None else None
