"""Wrong results that were reported to PyTorch: `depyf.numerics` must name the fault, or show that this release does not
have it.

python tools/numerics/reported.py [--only WORD] [--verbose]

Each program reproduces an issue of pytorch/pytorch on a CPU. A program whose compiled result differs from eager by more
than rounding explains must be called wrong at its line, or called unstable with the operator that makes it so; one whose results
agree must not be called wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch.nn import functional as F

import depyf
import torch
from sound import rand
from torch import nn


@dataclass(frozen=True)
class Report:
    """An issue of pytorch/pytorch, with a program that reproduces it and the expected verdict."""

    number: int
    subject: str
    program: Callable[..., Any]
    inputs: Callable[[], tuple[Any, ...]]
    expected: str
    """The kind of verdict that is expected with PyTorch 2.13."""
    mark: str = ""
    """The operator or the text of the line that the verdict must contain; "" if it need not name a place."""


def large_arange(x: Any) -> Any:
    return torch.arange(0, 11, dtype=torch.int64) * 1000000000 + x


def minimum_of_angles(x: Any, y: Any) -> Any:
    return torch.atan2(x, y).amin(1)


def diagonal(x: Any, source: Any) -> Any:
    return torch.diagonal_scatter(x, source).sum()


def near_zero(x: Any) -> Any:
    value = F.elu(x, alpha=1.24)
    return torch.reciprocal(value + torch.exp(value))


class Chunks(nn.Module):
    """Multiplies the results of two linear layers under autocast, and adds the two halves of the product."""

    def __init__(self) -> None:
        super().__init__()
        self.values, self.gates = nn.Linear(128, 256, bias=False), nn.Linear(128, 256, bias=False)

    def forward(self, x: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            first, second = torch.chunk(self.values(x) * self.gates(x), 2, -1)
            return first + second


class Triangle(nn.Module):
    """A gated product of matrices along one axis between two normalisations, under autocast."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.values, self.gates = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.out, self.out_gate = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)

    def forward(self, x: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            x = self.before(x)
            first, second = torch.chunk(self.values(x) * self.gates(x).sigmoid(), 2, -1)
            y = torch.einsum("bikd,bjkd->bijd", first.float(), second.float())
            return self.out(self.after(y)) * self.out_gate(x).sigmoid()


def stacked(x: Any, y: Any, alpha: Any, beta: Any) -> Any:
    part = x[..., 16]
    positive, rates = F.softplus(part) + 0.0001, F.softplus(y) + 0.0001
    gamma = torch.special.gammaln(positive + alpha.view(1, -1))
    return torch.stack([gamma, torch.special.erf(part * beta.view(1, -1)), torch.special.xlogy(positive, rates)], -1)


def divided(x: Any, y: Any, z: Any) -> Any:
    return torch.addcdiv(x, y, z, value=0.5)


def smallest_index(x: Any) -> Any:
    y = x.clone()
    y.sin_()
    return y.t().argmin(), y


def product_gradient(grad: Any, x: Any) -> Any:
    return torch.ops.aten.cumprod_backward(grad, x, 1, torch.cumprod(x, 1))


def added_at_index(tensor: Any, source: Any) -> Any:
    index = torch.tensor([0])
    out = tensor.index_add(0, index, source, alpha=2.0) / 2
    again = tensor.index_add(0, index, source, alpha=2.0) / 2
    return out, again


def added_rows(x: Any, values: Any) -> Any:
    return torch.index_add(x, 0, torch.arange(5), values)


def flipped_in_place(x: Any, y: Any) -> Any:
    x.copy_(x.flip(1))
    return x + (y.sum(1) + y)


def added_to_a_column(x: Any) -> Any:
    y = torch.zeros_like(x)
    y[:, 0] += x[:, 2].abs()
    return y.sum(1) * x[:, 0]


def adam_step(parameter: Any, grad: Any, m: Any, v: Any, step: Any) -> None:
    step.add_(1)
    m.mul_(0.9).add_(grad, alpha=0.1)
    v.mul_(0.999).addcmul_(grad, grad, value=0.001)
    count = step.item()
    denominator = (v.sqrt() / (1 - 0.999**count) ** 0.5).add_(1e-8)
    parameter.addcdiv_(m, denominator, value=-0.001 / (1 - 0.9**count))


def adam(parameter: Any, grad: Any) -> Any:
    p, m, v, step = parameter.clone(), torch.zeros_like(parameter), torch.zeros_like(parameter), torch.zeros(())
    for _ in range(4):
        adam_step(p, grad, m, v, step)
    return p


def bicubic(x: Any, weight: Any, bias: Any) -> Any:
    y = F.interpolate(x, size=[36, 1], mode="bicubic")
    return torch.tan(F.linear(-y, weight, bias).double())


def half_casts(x: Any) -> Any:
    kept = torch.where(x > 0, x, torch.full_like(x, 0.5))
    return (kept.half() + 0.1).float() + x


def leaky_after_normalisation(x: Any, weight: Any) -> Any:
    y = F.layer_norm(F.conv2d(x, weight), (6, 6))
    return F.rrelu(y, training=False)


def shifted(x: Any, y: Any) -> Any:
    return torch.bitwise_left_shift(x, y)


def mean_of_many(x: Any) -> Any:
    return x.mean()


def large_convolution(x: Any, weight: Any) -> Any:
    return F.conv2d(x, weight, stride=2, padding=1)


def scan_with_decay(x: Any, steps: Any, decay: Any) -> Any:
    # Mamba 2 computes the sum of each segment of `steps * decay` as a difference of two cumulative sums; entries above
    # the diagonal are masked.
    sums = torch.cumsum(steps * decay, -1)
    differences = sums[..., :, None] - sums[..., None, :]
    below = torch.tril(torch.ones(steps.shape[-1], steps.shape[-1], dtype=torch.bool))
    return torch.exp(differences.masked_fill(~below, -torch.inf)) @ x


def grid(theta: Any) -> Any:
    return F.affine_grid(theta, [3, 1, 8, 8, 8], align_corners=True)


REPORTS = [
    Report(175966, "a product of arange overflows 32 bits", large_arange, lambda: (torch.zeros(11).long(),), "compiler", "1000000000"),
    Report(186799, "the gradient of amin after atan2", minimum_of_angles, lambda: (rand(8, 9, grad=True), rand(8, 9, grad=True)), "same"),
    Report(182012, "the gradient of diagonal_scatter", diagonal, lambda: (rand(8, 8, grad=True), rand(8, grad=True)), "same"),
    Report(189803, "a reciprocal near a zero", near_zero, lambda: (rand(24, 57, 37),), "unstable", "torch.reciprocal"),
    Report(168186, "chunks under bf16 autocast", Chunks(), lambda: (rand(4, 16, 128),), "same"),
    Report(168126, "a triangle update under bf16 autocast", Triangle(), lambda: (rand(1, 12, 12, 32),), "same"),
    Report(185702, "slices that are stacked", stacked, lambda: (rand(4, 8, 32), rand(4, 8), rand(8), rand(8)), "same"),
    Report(181694, "addcdiv", divided, lambda: (rand(64), rand(64), rand(64)), "same"),
    Report(183894, "argmin after an operator in place and a transpose", smallest_index, lambda: (rand(7, 5),), "same"),
    Report(172062, "cumprod_backward", product_gradient, lambda: (rand(1, 100, dtype=torch.float64), rand(1, 100, dtype=torch.float64)), "same"),
    Report(108963, "index_add with alpha, twice", added_at_index, lambda: (torch.zeros(1).double(), rand(1).double()), "same"),
    Report(94778, "index_add of a vector to a matrix", added_rows, lambda: (rand(5, 5), rand(5, 5)), "same"),
    Report(162410, "a copy of a flip into itself", flipped_in_place, lambda: (rand(20, 20), rand(20, 20)), "same"),
    Report(136662, "an addition to a column in place", added_to_a_column, lambda: (rand(2, 3, grad=True),), "same"),
    Report(185382, "addcdiv_ and addcmul_ around .item() in a loop", adam, lambda: (rand(6), rand(6)), "same"),
    Report(145264, "a tangent after a bicubic interpolation", bicubic, lambda: (rand(8, 1, 4, 1), rand(25, 1), rand(25)), "same"),
    Report(183761, "casts to half precision that fusion leaves out", half_casts, lambda: (rand(200),), "same"),
    Report(181692, "rrelu after a normalisation", leaky_after_normalisation, lambda: (rand(2, 3, 8, 8), rand(4, 3, 3, 3)), "same"),
    Report(143566, "bitwise_left_shift beyond the width", shifted, lambda: (torch.tensor([1000, 7]), torch.tensor([64, 3])), "same"),
    Report(154703, "the mean of many values", mean_of_many, lambda: (torch.rand(3000, 4000),), "same"),
    Report(173921, "a convolution of large values", large_convolution, lambda: (rand(1, 3, 16, 16) * 1e13, rand(32, 3, 3, 3)), "same"),
    Report(146129, "the segment sums of Mamba 2", scan_with_decay, lambda: (rand(2, 16, 8), torch.rand(2, 16), -torch.rand(1)), "same"),
    Report(172061, "affine_grid in half precision", grid, lambda: (rand(3, 3, 4, dtype=torch.float16),), "same"),
]  # fmt: skip


def main() -> int:
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="use only issues with this word in the number or subject")
    parser.add_argument("--verbose", action="store_true", help="print all reports")
    arguments = parser.parse_args()
    wrong = total = 0
    for issue in REPORTS:
        if arguments.only not in f"{issue.number} {issue.subject}":
            continue
        torch.manual_seed(0)
        torch._dynamo.reset()
        report = depyf.numerics(torch.compile(issue.program), *issue.inputs())
        is_right = report.kind == issue.expected and issue.mark in report.verdict
        total += 1
        wrong += not is_right
        print(f"{'ok' if is_right else 'OTHER':6} #{issue.number} {issue.subject}: {report.verdict}", flush=True)
        if arguments.verbose or not is_right:
            print("    " + str(report).replace("\n", "\n    "), flush=True)
    print(f"{total} issues with PyTorch {torch.__version__}, {wrong} with another verdict than expected")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
