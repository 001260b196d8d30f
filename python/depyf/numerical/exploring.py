"""Measures the rounding errors of eager execution, operator by operator. Finds the first operator that loses many
digits (such as a subtraction of nearly equal values), and the first operator that computes a NaN or an infinity."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from depyf.compat import fx_nodes
from depyf.numerical import measuring
from depyf.numerical.model import NodeError
from depyf.numerical.recording import GraphCall, copy_values
from depyf.numerical.replaying import run, surroundings, wide_copies
from depyf.numerical.walking import Tape, Walk, target_name
from depyf.source_line import Line

_JUMP = 64.0
"""A loss of digits is reported only if the error of the result, in ulps, is at least this many times the error of the
inputs."""
_LOSS = 1000.0
"""A loss of digits is reported only if the error of the result is above this number of ulps, which is about ten
bits."""


@dataclass
class Special:
    """An operator that computes the first NaN or infinity, or whose result loses many digits."""

    operator: str
    line: Line | None
    value: str
    origin: str
    """A phrase about the input values from which the operator computes the NaN, the infinity or the least exact
    element."""
    ulps: float = 0.0


@dataclass
class Exploration:
    """The errors of a captured graph's operators in eager execution, and the first operators that compute a NaN or an
    infinity, or lose digits."""

    errors: list[NodeError] = field(default_factory=list)
    """The largest error of each source line."""
    not_finite: Special | None = None
    unstable: Special | None = None


def explore(module: Any, call: GraphCall) -> Exploration:
    """Runs a captured graph node by node, in its own types and in double precision at the same time, and compares the
    two values of each node."""
    import torch

    result = Exploration()
    tape = Tape()
    ulps: dict[str, float] = {}
    units: dict[str, float] = {}  # Maps a node's name to the coarsest roundoff of its value and its ancestors' values.
    by_line: dict[tuple[str, int], NodeError] = {}
    call_without_gradients = call
    with surroundings(call_without_gradients), torch.no_grad():
        state = torch.get_rng_state()
        own = Walk(module, [_detached(value) for value in copy_values(call.inputs)], tape)
        wide = Walk(module, [_detached(value) for value in wide_copies(call.inputs)], tape, is_double=True)
        torch.set_rng_state(state)
        reference = iter(wide)
        for node, value in own:
            after = torch.get_rng_state()
            _, exact = next(reference)
            torch.set_rng_state(after)
            if not isinstance(value, torch.Tensor) or not isinstance(exact, torch.Tensor):
                continue
            if not measuring.is_inexact(value):
                continue
            units[node.name] = max([_unit(value), *(units.get(source.name, 0.0) for source in node.all_input_nodes)])
            if node.op in ("placeholder", "output", "get_attr"):
                continue
            if value.shape != exact.shape or value.numel() == 0:
                continue
            error = _ulps(value, exact, units[node.name])
            ulps[node.name] = error
            given = own.argument_values(node)
            if result.not_finite is None and not bool(torch.isfinite(value).all()):
                result.not_finite = _not_finite(node, value, given)
            before = max([ulps.get(source.name, 0.5) for source in node.all_input_nodes], default=0.5)
            if result.unstable is None and math.isfinite(error) and error > _LOSS and error > _JUMP * max(before, 0.5):
                result.unstable = _special(node, value, exact, given, error)
            line = fx_nodes.line_of(node)
            if line is not None and math.isfinite(error):
                known = by_line.get((line.file, line.line))
                if known is None or known.ulps < error:
                    by_line[line.file, line.line] = NodeError(line, target_name(node), error)
    result.errors = list(by_line.values())
    return result


def _detached(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value


def _unit(value: Any) -> float:
    return measuring.roundoff(value.real.dtype if value.is_complex() else value.dtype)


def _ulps(value: Any, exact: Any, unit: float) -> float:
    """Returns the largest error of any element, in ulps. The ulp is that of the largest element, in a type with the
    roundoff `unit`."""
    difference = (value.to(exact.dtype) - exact).abs().max()
    largest = exact.abs().max()
    if not math.isfinite(float(difference)) or not float(largest):
        return 0.0 if not float(difference) else math.inf
    return float(difference) / (2.0 ** math.floor(math.log2(float(largest))) * unit)


def explore_gradients(module: Any, call: GraphCall) -> Special | None:
    """Runs a captured graph forward and backward, and returns the first operator whose backward computes a NaN or an
    infinity from finite gradients; None if there is no such operator."""
    found: list[Special] = []
    owners: set[Any] = set()

    def walk(inputs: list[Any]) -> Any:
        own = Walk(module, inputs, Tape())
        for node, value in own:
            if node.op in ("call_function", "call_method", "call_module"):
                given = {name: _detached(source) for name, source in own.argument_values(node).items()}
                for function in _functions_of(value, owners):
                    function.register_hook(_gradient_hook(node, given, found))
        return own.output

    run(call, walk)
    return found[0] if found else None


def _functions_of(value: Any, owners: set[Any]) -> list[Any]:
    """Returns the autograd functions from which a value was computed and that are not in `owners`. Adds these functions
    to `owners`."""
    todo = [item.grad_fn for item in measuring.tensors(value) if item.grad_fn is not None]
    functions = []
    while todo:
        function = todo.pop()
        if function not in owners:
            owners.add(function)
            functions.append(function)
            todo += [following for following, _ in function.next_functions if following is not None]
    return functions


def _gradient_hook(node: Any, given: dict[str, Any], found: list[Special]) -> Any:
    def finite(values: Any) -> bool:
        return all(value is None or measuring.is_finite(value) for value in values)

    def hook(gradients: Any, of_results: Any) -> None:
        if found or finite(gradients) or not finite(of_results):
            return
        bad = next(value for value in gradients if value is not None and not finite([value]))
        place, kind = _first_not_finite(bad)
        name = f"the backward of {target_name(node)}"
        found.append(Special(name, fx_nodes.line_of(node), kind, _origin(given, bad, place)))

    return hook


def _first_not_finite(value: Any) -> tuple[int, str]:
    """Returns a pair for the first element that is not finite: its row-major index, and "NaN" or "infinity"."""
    import torch

    place = int((~torch.isfinite(value)).flatten().to(torch.int8).argmax())
    return place, "NaN" if bool(torch.isnan(value.flatten()[place])) else "infinity"


def _not_finite(node: Any, value: Any, given: dict[str, Any]) -> Special | None:
    """Returns a description of a node that computes a NaN from inputs without NaN, or an infinity from finite inputs.
    Also describes a node that reads a NaN or an infinity from an input of the graph.

    Returns None if an earlier node computed the NaN or infinity, or if the program writes the infinity itself, as in
    `x.masked_fill(mask, -inf)`.
    """
    import torch

    tensors = [tensor for tensor in given.values() if isinstance(tensor, torch.Tensor) and measuring.is_inexact(tensor)]
    has_nan = bool(torch.isnan(value).any())
    if any(bool(torch.isnan(tensor).any()) for tensor in tensors) or (
        not has_nan and any(not bool(torch.isfinite(tensor).all()) for tensor in tensors)
    ):
        # The NaN or infinity comes from an input of the graph, from a constant, or from an earlier node.
        sources = [
            source
            for source in node.all_input_nodes
            if source.op == "placeholder" and _has_not_finite(given.get(source.name))
        ]
        if not sources:
            return None
        return Special(
            target_name(node), fx_nodes.line_of(node), "not finite", f"the input {sources[0].name} has it already"
        )
    if not has_nan and _writes_infinity(node):
        return None
    place, kind = _first_not_finite(torch.where(torch.isnan(value), value, 0) if has_nan else value)
    return Special(target_name(node), fx_nodes.line_of(node), kind, _origin(given, value, place))


def _has_not_finite(value: Any) -> bool:
    import torch

    is_inexact = isinstance(value, torch.Tensor) and measuring.is_inexact(value)
    return is_inexact and not bool(torch.isfinite(value).all())


def _writes_infinity(node: Any) -> bool:
    numbers = [value for value in (*node.args, *node.kwargs.values()) if isinstance(value, float)]
    return any(math.isinf(number) for number in numbers)


def _special(node: Any, value: Any, exact: Any, given: dict[str, Any], error: float) -> Special:
    place = int((value.to(exact.dtype) - exact).abs().flatten().argmax())
    return Special(
        target_name(node),
        fx_nodes.line_of(node),
        f"{value.flatten()[place].item():.6g}",
        _origin(given, value, place),
        error,
    )


def _origin(given: dict[str, Any], value: Any, place: int) -> str:
    """Returns a phrase about the elements of the inputs from which the result's element at the index `place` is
    computed."""
    words = []
    for name, tensor in given.items():
        if not hasattr(tensor, "shape") or not tensor.numel():
            continue
        if tuple(tensor.shape) == tuple(value.shape):
            words.append(f"{name} = {tensor.flatten()[place].item():.9g}")
        elif tensor.numel() == 1:
            words.append(f"{name} = {tensor.item():.9g}")
        elif tensor.is_floating_point():
            words.append(f"{name} between {float(tensor.min()):.6g} and {float(tensor.max()):.6g}")
    return ", ".join(words)
