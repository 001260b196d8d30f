"""Runs one recorded call of a graph again, on copies of its inputs, in three ways: compiled, in eager execution, and in
eager execution in double precision. Compares the results of the three runs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from depyf.numerical import measuring
from depyf.numerical.measuring import Deviation
from depyf.numerical.recording import Compilation, GraphCall, copy_values
from depyf.numerical.walking import Tape, Walk, perturbed, widen

Runner = Callable[[list[Any]], Any]
_SEED = 20_011


@dataclass
class Results:
    """The results of one run of a graph."""

    outputs: list[Any]
    inputs: list[Any]
    """The inputs after the run; the run can have changed them in place."""
    gradients: list[Any]
    """The gradient of each input; None for an input without a gradient."""

    def named(self) -> list[tuple[str, Any]]:
        """Returns all results with names such as "output 0", "input 2 after the call" or "gradient of input 1"."""
        rows = [(f"output {index}", value) for index, value in enumerate(self.outputs)]
        rows += [(f"input {index} after the call", value) for index, value in enumerate(self.inputs)]
        rows += [(f"gradient of input {index}", value) for index, value in enumerate(self.gradients)]
        return rows


@contextlib.contextmanager
def surroundings(call: GraphCall) -> Any:
    """Restores the state of PyTorch in which a call was recorded: grad mode, autocast and random state."""
    import torch

    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.set_grad_enabled(call.grad_enabled))
        for device, dtype in call.autocast:
            stack.enter_context(torch.autocast(device, dtype))
        torch.set_rng_state(call.random_state)
        yield


def wide_copies(values: list[Any]) -> list[Any]:
    """Returns copies of values in double precision; copies of tensors that share memory share memory too."""
    import torch

    wide: list[Any] = []
    storages: dict[tuple[int, Any], Any] = {}
    for value in values:
        if not isinstance(value, torch.Tensor) or not measuring.is_inexact(value) or value.layout != torch.strided:
            wide.append(value.detach().clone() if isinstance(value, torch.Tensor) else value)
            continue
        storage = value.untyped_storage()
        key = storage.data_ptr(), value.dtype
        if key not in storages:
            count = storage.nbytes() // value.element_size()
            flat = torch.empty(0, dtype=value.dtype).set_(storage, 0, (count,), (1,))
            storages[key] = widen(flat) if widen(flat) is not flat else flat.clone()
        with torch.no_grad():
            same = storages[key].as_strided(value.size(), value.stride(), value.storage_offset())
        same = same.detach()
        wide.append(same.requires_grad_(value.requires_grad))
    return wide


def tangents_of(call: GraphCall, outputs: list[Any]) -> dict[int, Any]:
    """Returns a mapping from the indices of outputs to their gradients: the program's own gradients, or random numbers
    from a fixed seed if the program computed no gradients."""
    import torch

    if call.tangents:
        return call.tangents
    generator = torch.Generator().manual_seed(_SEED)
    own = {}
    for index, output in enumerate(outputs):
        if isinstance(output, torch.Tensor) and output.requires_grad:
            dtype = torch.float64 if not output.is_complex() else torch.complex128
            own[index] = torch.randn(output.shape, generator=generator, dtype=dtype).to(output.dtype)
    return own


def run(call: GraphCall, runner: Runner, *, is_double: bool = False, noise: Any = None) -> Results:
    """Runs a graph call with copies of its inputs, forward and backward."""
    import torch

    inputs = copy_values(call.inputs)
    if noise is not None:
        with torch.no_grad():
            inputs = [
                value.detach().requires_grad_(source.requires_grad) if isinstance(value, torch.Tensor) else value
                for value, source in zip(perturbed(inputs, noise), inputs, strict=True)
            ]
    elif is_double:
        inputs = wide_copies(inputs)
    leaves = list(inputs)
    wanted = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    with surroundings(call):
        # An input that was no leaf of autograd's graph in the program is passed as a clone, which is no leaf either:
        # the graph may change this input in place, which autograd does not allow for a leaf.
        given = [
            value.clone()
            if isinstance(value, torch.Tensor) and value.requires_grad and not is_leaf and call.grad_enabled
            else value
            for value, is_leaf in zip(inputs, call.are_leaves, strict=True)
        ]
        result = runner(given)
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        gradients = _gradients(call, outputs, leaves, wanted)
    return Results([_kept(value) for value in outputs], [_kept(value) for value in given], gradients)


def _kept(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value


def _gradients(call: GraphCall, outputs: list[Any], leaves: list[Any], wanted: list[int]) -> list[Any]:
    """Returns a list with the gradient of each input in `wanted`, which has the indices of the inputs that required a
    gradient before the run. The list has None for every other input, including an input that the run itself made
    require a gradient."""
    import torch

    tangents = tangents_of(call, outputs)
    rooted = [
        index
        for index in tangents
        if index < len(outputs) and isinstance(outputs[index], torch.Tensor) and outputs[index].requires_grad
    ]
    gradients: list[Any] = [None] * len(leaves)
    if not wanted or not rooted:
        return gradients
    found = torch.autograd.grad(
        [outputs[index] for index in rooted],
        [leaves[index] for index in wanted],
        [tangents[index].to(outputs[index].dtype) for index in rooted],
        allow_unused=True,
    )
    for index, gradient in zip(wanted, found, strict=True):
        gradients[index] = gradient
    return gradients


@dataclass
class Screening:
    """The results of a graph call in eager execution, in double precision and compiled, with their differences."""

    eager: Results
    reference: Results
    compiled: Results
    tape: Tape
    deviations: list[tuple[str, Any, Deviation]]
    """A tuple for each result: the name of the result, its compiled value, and the errors of the compiled value."""
    is_suspicious: bool
    """True if a compiled result is much less exact than the result of eager execution, even if sampled rounding noise
    explains the error. The compilation stages of a suspicious call are searched for a fault."""


def screen(compilation: Compilation, call: GraphCall) -> Screening:
    """Compares the results of a compiled graph with the results of the captured graph."""
    module = compilation.snapshots[0].module
    compiled_function = compilation.compiled
    assert compiled_function is not None
    tape = Tape()
    compiled = run(call, lambda inputs: compiled_function(*inputs))
    eager = run(call, lambda inputs: Walk(module, inputs, tape).run())
    reference = run(call, lambda inputs: Walk(module, inputs, tape, is_double=True).run(), is_double=True)
    deviations = _deviations(compiled, eager, reference, call.inputs)
    is_suspicious = any(errors.mismatch is not None for _, _, errors in deviations)
    screening = Screening(eager, reference, compiled, tape, deviations, is_suspicious)
    if is_suspicious:
        noise = _noise(compilation, call, tape, reference)
        screening.deviations = _deviations(compiled, eager, reference, call.inputs, noise)
    return screening


def _noise(compilation: Compilation, call: GraphCall, tape: Tape, reference: Results) -> dict[str, Any]:
    """Returns a mapping from the name of each result to a sample of the result's rounding noise: the larger of the
    changes that the result has in two runs with simulated rounding."""
    import torch

    module = compilation.snapshots[0].module
    expected = dict(reference.named())
    noise: dict[str, Any] = {}
    for seed in range(2):
        generator = torch.Generator().manual_seed(_SEED + seed)
        sample = run(call, _with_noise(module, tape, generator), noise=generator)
        for name, value in sample.named():
            if isinstance(value, torch.Tensor) and measuring.is_inexact(value):
                difference = (value - expected[name]).abs()
                noise[name] = difference if name not in noise else torch.maximum(noise[name], difference)
    return noise


def _with_noise(module: Any, tape: Tape, generator: Any) -> Runner:
    return lambda inputs: Walk(module, inputs, tape, is_double=True, noise=generator).run()


def _deviations(
    compiled: Results, eager: Results, reference: Results, given: list[Any], noise: dict[str, Any] | None = None
) -> list[tuple[str, Any, Deviation]]:
    """Returns the names, compiled values and errors of all results.

    Args:
        given: the inputs before the runs; an input that neither the compiled nor the eager run changes is not a result.
    """
    import torch

    rows = []
    unchanged = {
        f"input {index} after the call"
        for index, value in enumerate(given)
        if isinstance(value, torch.Tensor) and _is_unchanged(value, compiled.inputs[index], eager.inputs[index])
    }
    for (name, stage), (_, own), (_, exact) in zip(compiled.named(), eager.named(), reference.named(), strict=False):
        if name in unchanged:
            continue
        if not isinstance(stage, torch.Tensor) or not isinstance(own, torch.Tensor):
            if name.startswith("gradient") and (stage is None) != (own is None):
                # The gradient of an unused input can be zeros in one run and None in the other.
                present = own if stage is None else stage
                if bool((present != 0).any()):
                    rows.append((name, present, _missing(present)))
            continue
        sampled = (noise or {}).get(name)
        rows.append((name, stage, measuring.deviation(stage, own, exact, sampled)))
    return rows


def _is_unchanged(before: Any, stage: Any, own: Any) -> bool:
    import torch

    same = before.shape == stage.shape == own.shape and before.dtype == stage.dtype == own.dtype
    return same and bool(torch.equal(before, own)) and bool(torch.equal(before, stage))


def _missing(value: Any) -> Deviation:
    wrong = measuring.Mismatch((), "missing", "there", "", math.inf, 0.0, int(value.numel()), int(value.numel()))
    return Deviation(math.inf, 0.0, wrong)
