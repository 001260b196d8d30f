"""Computes the values of all nodes of a graph, in the graph's own types and in double precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from depyf.numerical import measuring
from depyf.numerical.recording import copy_values
from depyf.numerical.replaying import wide_copies
from depyf.numerical.walking import Tape, Walk, perturbed


@dataclass
class NodeValue:
    """The value of one node."""

    node: Any
    own: Any
    """The value in the graph's own types."""
    wide: Any
    """The value in double precision."""


@dataclass
class GraphValues:
    """The values that the nodes of a graph have for one list of inputs. `by_name` has no item for a node whose value is
    not a tensor."""

    module: Any
    by_name: dict[str, NodeValue]
    output: list[Any]
    wide_output: list[Any]
    tape: Tape
    inputs: list[Any]
    random_state: Any


def evaluate(module: Any, inputs: list[Any], random_state: Any) -> GraphValues:
    """Runs a graph of ATen's operators in its own types and in double precision, and returns copies of all tensor
    values."""
    import torch

    tape = Tape()
    by_name: dict[str, NodeValue] = {}
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        torch.set_rng_state(random_state)
        own = Walk(module, [_detached(value) for value in copy_values(inputs)], tape)
        for node, value in own:
            if isinstance(value, torch.Tensor):
                by_name[node.name] = NodeValue(node, value.detach().clone(), None)
        wide = Walk(module, [_detached(value) for value in wide_copies(inputs)], tape, is_double=True)
        for node, value in wide:
            if isinstance(value, torch.Tensor) and node.name in by_name:
                by_name[node.name].wide = value.detach().clone()
    known = {name: value for name, value in by_name.items() if value.wide is not None}
    return GraphValues(module, known, _items(own.output), _items(wide.output), tape, inputs, random_state)


def noise(values: GraphValues) -> dict[str, Any]:
    """Returns a mapping from the name of each node to a sample of the rounding noise of its value: the larger of the
    changes that the value has in two runs with simulated rounding."""
    import torch

    sampled: dict[str, Any] = {}
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        for seed in range(2):
            generator = torch.Generator().manual_seed(seed + 77)
            noisy = perturbed(wide_copies_of_own(values.inputs), generator)
            for node, value in Walk(values.module, noisy, values.tape, is_double=True, noise=generator):
                known = values.by_name.get(node.name)
                if known is None or not isinstance(value, torch.Tensor) or not measuring.is_inexact(value):
                    continue
                if value.shape != known.wide.shape:
                    continue
                difference = (value - known.wide).abs()
                before = sampled.get(node.name)
                sampled[node.name] = difference if before is None else torch.maximum(before, difference)
    return sampled


def wide_copies_of_own(inputs: list[Any]) -> list[Any]:
    """Returns detached copies of the inputs in their own types."""
    return [_detached(value) for value in copy_values(inputs)]


def _detached(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value


def _items(output: Any) -> list[Any]:
    return list(output) if isinstance(output, (list, tuple)) else [output]
