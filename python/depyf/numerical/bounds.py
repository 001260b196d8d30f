"""Bounds the rounding error that each kind of operator may have.

docs/numerics.md contains the same table of bounds, with the sources of its numbers. A bound is a multiple of the
roundoff u of the result's type. If an operator adds n products or terms, its result may be wrong by u * max(1, sqrt(n)
/ 8) times the sum of the terms' absolute values. The factor sqrt(n) / 8 has two reasons: the sum of n independent
rounding errors grows with sqrt(n), and kernels split a sum into at least 8 partial sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Bound:
    """The bound on the rounding error of one kind of operator."""

    kind: str
    ulps: float
    adds_terms: bool = False
    """True if the operator is linear in each input and adds terms, so that its bound grows with the number of terms."""


EXACT = Bound("moves values and computes none", 0.0)
ARITHMETIC = Bound("arithmetic on elements", 1.0)
FUNCTION = Bound("elementary function of elements", 4.0)
SUM = Bound("sum, mean or product of matrices", 1.0, adds_terms=True)
NORMALISATION = Bound("normalisation, softmax or attention", 16.0)

_LANES = 8
"""The least number of partial sums into which kernels split a sum."""

_KINDS: dict[Bound, str] = {
    EXACT: "view reshape permute transpose t expand squeeze unsqueeze slice select cat stack split chunk clone copy_ contiguous "
    "flatten unflatten getitem alias detach gather index index_select where relu clamp clamp_min clamp_max minimum maximum "
    "abs neg max min amax amin sort topk eq ne lt le gt ge masked_fill constant_pad_nd pad empty zeros ones full to "
    "_to_copy convert_element_type as_strided narrow movedim roll flip repeat tile unbind embedding sign round floor ceil "
    "trunc logical_and logical_or logical_not bitwise_and bitwise_or bitwise_not arange iota argmax argmin nonzero "
    "max_pool2d max_pool2d_with_indices leaky_relu diagonal tril triu view_as view_copy expand_as",
    ARITHMETIC: "add sub rsub mul div truediv iadd imul isub itruediv sqrt rsqrt reciprocal addcmul addcdiv lerp square hypot "
    "remainder fmod fma",
    FUNCTION: "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh sigmoid erf erfc erfinv gelu "
    "silu mish softplus elu selu celu hardswish hardsigmoid logsigmoid pow lgamma digamma logaddexp xlogy glu tanhshrink",
    SUM: "sum mean mm bmm addmm baddbmm matmul linear dot mv einsum conv1d conv2d conv3d convolution conv_transpose1d "
    "conv_transpose2d cumsum nansum avg_pool2d _adaptive_avg_pool2d adaptive_avg_pool2d scatter_add index_add index_put "
    "embedding_bag outer bilinear trace tensordot",
}
_BY_NAME = {name: bound for bound, names in _KINDS.items() for name in names.split()}


def bound_of(target: str) -> Bound:
    """Returns the bound of an operator such as `aten.mean.dim`, `torch.nn.functional.gelu` or `Tensor.mul_`. An
    operator that `_KINDS` does not list gets the widest bound, `NORMALISATION`."""
    for part in target.split("."):
        name = part.rstrip("_")
        if part in _BY_NAME or name in _BY_NAME:
            return _BY_NAME.get(part) or _BY_NAME[name]
    return NORMALISATION


_WITH_STEPS = frozenset(
    "round floor ceil trunc sign eq ne lt le gt ge argmax argmin topk sort argsort max min median mode bucketize searchsorted remainder "
    "fmod floor_divide unique nonzero to _to_copy convert_element_type".split()
)


def is_discontinuous(target: str) -> bool:
    """True if a small change of an input of the operator can change its result by a large amount."""
    return any(part.rstrip("_") in _WITH_STEPS or part in _WITH_STEPS for part in target.split("."))


def growth(bound: Bound, result: Any, arguments: list[Any]) -> float:
    """Returns the factor by which the bound of an operator grows with the number of terms that it adds."""
    return max(1.0, math.sqrt(terms(bound, result, arguments)) / _LANES)


def terms(bound: Bound, result: Any, arguments: list[Any]) -> float:
    """Returns the approximate number of terms that an operator adds to compute one element of its result."""
    if not bound.adds_terms or not arguments:
        return 1.0
    first, last = arguments[0], arguments[-1]
    if len(arguments) == 1:
        return float(max(1, first.numel() // max(1, result.numel())))
    longest = max([first.shape[-1] if first.dim() else 1, last.shape[-1] if last.dim() else 1])
    products = math.sqrt(first.numel() * last.numel() / max(1, result.numel()))
    return float(max(1.0, longest, products))
