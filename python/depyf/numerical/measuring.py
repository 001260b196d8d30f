"""Measures the difference of two values in ulps of their type, and decides whether rounding explains the difference."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_EAGER_FACTOR = 4.0
"""The factor by which a compilation stage may be less exact than eager execution, because the stage may round more
often and in another order."""
_ULPS = 16.0
"""The error, in half ulps of a typical element, that a compilation stage may have even if eager execution happens to be
exact."""
_NOISE_FACTOR = 8.0
"""The factor by which a legitimate rounding error may exceed the sampled rounding noise, because a sample of random
noise may be small."""
_DOUBLE_ULPS = 2.0e6
"""The value used in place of `_ULPS` for values in double precision, because the reference is in double precision too,
and has rounding errors."""
_DOUBLE_BYTES = 8
EXACT_TOLERANCE = 1e-9
"""The largest difference between the double-precision results of two graphs with the same meaning, relative to the
largest element."""


@dataclass(frozen=True)
class Mismatch:
    """The element of a stage's value with the worst error. For exact types, such as integers, the first element that
    differs."""

    index: tuple[int, ...]
    stage: float | str
    eager: float | str
    reference: float | str
    ulps: float
    """The error of the stage's element against the reference, in ulps."""
    eager_ulps: float
    count: int
    """The number of elements whose errors rounding does not explain."""
    total: int


@dataclass(frozen=True)
class Deviation:
    """The errors that a stage's value and the value of eager execution have against the reference in double
    precision."""

    stage_ulps: float
    eager_ulps: float
    mismatch: Mismatch | None
    """The element with the worst error; None if rounding explains the errors of the stage."""


def tensors(value: Any) -> list[Any]:
    """Returns the tensors in a value, in order: the value itself, or the tensors in nested lists, tuples and dicts."""
    return list(_tensors(value))


def _tensors(value: Any) -> Iterator[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)


def is_inexact(value: Any) -> bool:
    """True if a tensor contains floating or complex numbers."""
    return bool(value.is_floating_point() or value.is_complex())


def is_finite(value: Any) -> bool:
    """True if a tensor has no NaN and no infinity."""
    import torch

    return not is_inexact(value) or bool(torch.isfinite(value).all())


def roundoff(dtype: Any) -> float:
    """Returns the distance from 1 to the next larger number of a type."""
    import torch

    return float(torch.finfo(dtype).eps)


def ulps_of(errors: Any, reference: Any, dtype: Any) -> Any:
    """Converts absolute errors to ulps. An ulp is the distance between two neighbouring numbers of the type `dtype` at
    the size of the reference."""
    import torch

    limits = torch.finfo(dtype)
    size = reference.abs().clamp(min=float(limits.tiny))
    spacing = torch.exp2(torch.floor(torch.log2(size))) * float(limits.eps)
    return errors / spacing


def _real(value: Any) -> Any:
    """Returns a tensor converted to real numbers in double precision. Each complex number becomes a pair of real
    numbers."""
    import torch

    value = value.detach()
    if value.is_complex():
        return torch.view_as_real(value.to(torch.complex128).resolve_conj())
    return value.to(torch.float64)


def deviation(stage: Any, eager: Any, reference: Any, noise: Any = None) -> Deviation:
    """Compares the value of a compilation stage with the reference, and decides whether rounding explains the
    difference.

    Args:
        stage: the value that a compilation stage computes for a node.
        eager: the value that eager execution computes for the node.
        reference: the value of the node in a run in double precision.
        noise: a sample of the rounding error of each element; None if there is no sample.
    """
    if tuple(stage.shape) != tuple(eager.shape):
        wrong = Mismatch((), f"shape {tuple(stage.shape)}", f"shape {tuple(eager.shape)}", "", math.inf, 0.0, 1, 1)
        return Deviation(math.inf, 0.0, wrong)
    if stage.dtype != eager.dtype:
        wrong = Mismatch((), str(stage.dtype), str(eager.dtype), "", math.inf, 0.0, 1, 1)
        return Deviation(math.inf, 0.0, wrong)
    if stage.numel() == 0:
        return Deviation(0.0, 0.0, None)
    if not is_inexact(stage):
        return _of_exact(stage, eager)
    dtype = stage.dtype if not stage.is_complex() else stage.real.dtype
    return _of_inexact(_real(stage), _real(eager), _real(reference), dtype, noise)


def _of_exact(stage: Any, eager: Any) -> Deviation:
    wrong = stage.detach() != eager.detach()
    count = int(wrong.sum())
    if count == 0:
        return Deviation(0.0, 0.0, None)
    index = tuple(int(place) for place in wrong.nonzero()[0])
    found, expected = stage[index].item(), eager[index].item()
    return Deviation(math.inf, 0.0, Mismatch(index, found, expected, expected, math.inf, 0.0, count, stage.numel()))


def _of_inexact(stage: Any, eager: Any, reference: Any, dtype: Any, noise: Any) -> Deviation:
    typical = float(reference.norm()) / math.sqrt(reference.numel())
    unit = roundoff(dtype) / 2
    factor = _DOUBLE_ULPS if dtype.itemsize == _DOUBLE_BYTES else _ULPS
    stage_worst, eager_worst = float((stage - reference).abs().max()), float((eager - reference).abs().max())
    if all(map(math.isfinite, (typical, stage_worst, eager_worst))):
        # `_by_element` allows each element at least the error that the following condition allows, so `_by_element`
        # would find no mismatch.
        if stage_worst <= _EAGER_FACTOR * eager_worst + factor * unit * typical:
            return Deviation(_of_typical(stage_worst, typical, dtype), _of_typical(eager_worst, typical, dtype), None)
    return _by_element(stage, eager, reference, dtype, noise)


def _by_element(stage: Any, eager: Any, reference: Any, dtype: Any, noise: Any) -> Deviation:
    """Compares the values of a stage and of eager execution with the reference, element by element. Elements may be NaN
    or infinite."""
    import torch

    largest = float(torch.finfo(dtype).max)
    # Numbers of the reference beyond the range of the type `dtype` become infinities, because the stage can only return
    # an infinity for such a number, which is no error.
    reference = torch.where(reference.abs() > largest, torch.sign(reference) * math.inf, reference)
    stage_errors, eager_errors = _errors(stage, reference), _errors(eager, reference)
    finite = torch.isfinite(eager_errors)
    eager_worst = float(eager_errors[finite].max()) if bool(finite.any()) else 0.0
    usual = reference[torch.isfinite(reference)]
    typical = float(usual.norm()) / math.sqrt(usual.numel()) if usual.numel() else 0.0
    if not math.isfinite(typical):
        typical = 0.0
    unit = roundoff(dtype) / 2
    factor = _DOUBLE_ULPS if dtype == torch.float64 else _ULPS
    magnitude = torch.nan_to_num(reference.abs(), nan=0.0, posinf=0.0, neginf=0.0)
    allowed = _EAGER_FACTOR * eager_worst + factor * unit * (magnitude + typical)
    if noise is not None:
        sampled = torch.nan_to_num(_real(noise).abs(), nan=0.0, posinf=0.0, neginf=0.0).reshape(reference.shape)
        allowed = allowed + _NOISE_FACTOR * (sampled + float(sampled.square().mean().sqrt()))
    # An element of the stage is not wrong if the element of eager execution has the same value, or if both are NaN.
    wrong = (stage_errors > allowed) & ~((stage == eager) | (torch.isnan(stage) & torch.isnan(eager)))
    stage_ulps = _of_typical(float(stage_errors.max()), typical, dtype)
    eager_ulps = _of_typical(float(eager_errors.max()), typical, dtype)
    count = int(wrong.sum())
    if count == 0:
        return Deviation(stage_ulps, eager_ulps, None)
    excess = torch.where(wrong, stage_errors, torch.zeros_like(stage_errors))
    flat = int(torch.nan_to_num(excess, nan=math.inf, posinf=math.inf).argmax())
    index = tuple(int(place) for place in torch.unravel_index(torch.tensor(flat), reference.shape))
    expected = torch.nan_to_num(reference[index], nan=0.0, posinf=largest, neginf=-largest)
    mismatch = Mismatch(
        index,
        float(stage[index]),
        float(eager[index]),
        float(reference[index]),
        float(ulps_of(stage_errors[index], expected, dtype)),
        float(ulps_of(eager_errors[index], expected, dtype)),
        count,
        reference.numel(),
    )
    return Deviation(stage_ulps, eager_ulps, mismatch)


def _of_typical(worst: float, typical: float, dtype: Any) -> float:
    """Converts the absolute error `worst` to ulps of a number of the magnitude `typical`. Ulps of a small element
    itself would be misleading, because small elements are often differences of larger numbers."""
    import torch

    scale = max(typical, float(torch.finfo(dtype).tiny))
    return worst / (2.0 ** math.floor(math.log2(scale)) * float(torch.finfo(dtype).eps))


def _errors(value: Any, reference: Any) -> Any:
    """Returns the absolute error of each element. The error is 0 if value and reference are the same infinity or both
    NaN. The error is infinite for any other pair of elements that are not both finite."""
    import torch

    same = (value == reference) | (torch.isnan(value) & torch.isnan(reference))
    errors = torch.where(same, torch.zeros_like(reference), (value - reference).abs())
    return torch.nan_to_num(errors, nan=math.inf, posinf=math.inf)


def means_the_same(left: Any, right: Any, tolerance: float = EXACT_TOLERANCE) -> bool:
    """True if two values that were computed in double precision differ only by rounding.

    Args:
        tolerance: the allowed difference, relative to the largest element of `left`.
    """
    import torch

    if tuple(left.shape) != tuple(right.shape):
        return False
    if left.numel() == 0:
        return True
    if not (is_inexact(left) and is_inexact(right)):
        return bool((left.detach() == right.detach()).all())
    left, right = _real(left), _real(right)
    worst, largest = float((right - left).abs().max()), float(left.abs().max())
    if math.isfinite(worst) and math.isfinite(largest):
        return worst <= tolerance * largest + 1e-300
    errors = _errors(right, left)
    finite = left[torch.isfinite(left)]
    largest = float(finite.abs().max()) if finite.numel() else 0.0
    return float(errors.max()) <= tolerance * largest + 1e-300
