"""Functions and models without a fault: `depyf.numerics` must not call the compiler wrong on any of them, whichever the seed.

python tools/numerics/sound.py [--seeds N] [--only WORD] [--first-seed N] [--backend NAME]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

from torch.nn import functional as F

import depyf
import torch
from torch import nn

Case = tuple[Callable[..., Any], tuple[Any, ...]]


def rand(*sizes: int, grad: bool = False, dtype: torch.dtype = torch.float32) -> Any:
    return torch.randn(*sizes, dtype=dtype).requires_grad_(grad)


class Mlp(nn.Module):
    """Linear layers with a normalisation between them."""

    def __init__(self, norm: nn.Module, act: nn.Module, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, 64), norm, act, nn.Linear(64, width))

    def forward(self, x: Any) -> Any:
        return self.layers(x) + x


class Block(nn.Module):
    """One block of a transformer."""

    def __init__(self, width: int = 32, heads: int = 4, causal: bool = True) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Any) -> Any:
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class Conv(nn.Module):
    """A convolutional network with batch normalisation in training."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, groups=2),
            nn.GroupNorm(2, 8),
        )
        self.head = nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        return self.head(self.layers(x).mean((2, 3)))


class Language(nn.Module):
    """A language model: an embedding, two blocks, an output layer with the embedding's weights, and a cross entropy
    loss."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(50, 32)
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, tokens: Any) -> Any:
        x = self.table(tokens)
        for block in self.blocks:
            x = block(x)
        logits = x @ self.table.weight.t()
        return F.cross_entropy(logits[:, :-1].reshape(-1, 50), tokens[:, 1:].reshape(-1))


def autocast(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return function(*args)

    return call


def optimizer_step(make: Callable[[Any], Any]) -> Case:
    parameters = [nn.Parameter(torch.randn(8, 8)), nn.Parameter(torch.randn(8))]
    optimizer = make(parameters)
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)

    def step() -> Any:
        optimizer.step()
        return [parameter.detach().clone() for parameter in parameters]

    return step, ()


def quantised(x: Any) -> Any:
    scale = x.abs().amax() / 127
    return torch.clamp(torch.round(x / scale), -127, 127) * scale


def sorted_values(x: Any) -> Any:
    values, index = torch.topk(x, 3, -1)
    return values.sum(-1) + index.to(x.dtype).mean(-1), x.argsort(-1)


def with_break(x: Any, w: Any) -> Any:
    h = torch.softmax(x @ w, -1)
    torch._dynamo.graph_break()
    return (h * h).cumsum(-1)


def in_place(x: Any, state: Any) -> Any:
    state.mul_(0.9).add_(x.mean(0), alpha=0.1)
    x = x - state
    x[:, 0] = 0
    return x.relu_()


def complex_numbers(x: Any) -> Any:
    z = torch.fft.rfft(x)
    return torch.fft.irfft(z * z.conj()), z.abs()


def statistics(x: Any) -> Any:
    return x.var(-1), x.std(0), torch.logsumexp(x, -1), x.norm(dim=-1), x.prod(-1), x.median(-1).values


def cancelled(x: Any, y: Any) -> Any:
    return (x + y) - x, (x * x).sum(-1) - (x.sum(-1) ** 2)


def einsum_and_masks(x: Any, y: Any) -> Any:
    scores = torch.einsum("bik,bjk->bij", x, y)
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)


def half_values(x: Any) -> Any:
    h = x.to(torch.float16)
    return (h * 3 + 1).softmax(-1).float().sum(-1), h.exp()


def rotary(x: Any, angles: Any) -> Any:
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def grids(x: Any) -> Any:
    return (
        F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False),
        F.avg_pool2d(x, 2),
        F.pad(x, (1, 2, 0, 1), mode="reflect"),
    )


def dropped(x: Any) -> Any:
    return F.dropout(x, 0.3, training=True) * 2 + torch.rand_like(x)


def indexed(x: Any, index: Any) -> Any:
    y = torch.zeros(20, x.shape[-1]).index_add(0, index, x)
    return y[index], torch.zeros(20).scatter_add(0, index, x[:, 0])


def losses(x: Any, y: Any) -> Any:
    return (
        F.mse_loss(x, y),
        F.smooth_l1_loss(x, y),
        F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
        F.huber_loss(x, y),
    )


class Recurrent(nn.Module):
    """A GRU cell, unrolled."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(8, 16)

    def forward(self, x: Any) -> Any:
        h = x.new_zeros(x.shape[1], 16)
        for step in x:
            h = self.cell(step, h)
        return h


def cases() -> dict[str, Callable[[], Case]]:
    """Returns, by the name of a case, a function that returns the case's function and inputs, to be called after the
    seed is set."""
    return {
        "mlp, layer_norm, gelu": lambda: (Mlp(nn.LayerNorm(64), nn.GELU()), (rand(16, 32),)),
        "mlp, batch_norm, silu": lambda: (Mlp(nn.BatchNorm1d(64), nn.SiLU()), (rand(16, 32),)),
        "mlp, rms_norm, tanh": lambda: (Mlp(nn.RMSNorm(64), nn.Tanh()), (rand(16, 32, grad=True),)),
        "mlp, softplus, eval": lambda: (Mlp(nn.BatchNorm1d(64), nn.Softplus()).eval(), (rand(16, 32),)),
        "mlp, bf16 autocast": lambda: (autocast(Mlp(nn.LayerNorm(64), nn.GELU())), (rand(16, 32),)),
        "mlp in bf16": lambda: (Mlp(nn.LayerNorm(64), nn.GELU()).bfloat16(), (rand(16, 32).bfloat16(),)),
        "block": lambda: (Block(), (rand(2, 12, 32),)),
        "block, not causal, no grad": lambda: (Block(causal=False).requires_grad_(False), (rand(2, 12, 32),)),
        "block, bf16 autocast": lambda: (autocast(Block()), (rand(2, 12, 32),)),
        "language model": lambda: (Language(), (torch.randint(0, 50, (2, 10)),)),
        "language model, bf16 autocast": lambda: (autocast(Language()), (torch.randint(0, 50, (2, 10)),)),
        "multihead attention": lambda: (nn.MultiheadAttention(16, 2, batch_first=True), (x := rand(2, 6, 16), x, x)),
        "encoder layer": lambda: (nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True), (rand(2, 6, 16),)),
        "convolutions": lambda: (Conv(), (rand(2, 3, 10, 10),)),
        "recurrent cell": lambda: (Recurrent(), (rand(5, 3, 8),)),
        "adam": lambda: optimizer_step(lambda p: torch.optim.Adam(p, lr=1e-2)),
        "sgd with momentum": lambda: optimizer_step(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)),
        "adamw, foreach": lambda: optimizer_step(lambda p: torch.optim.AdamW(p, lr=1e-2, foreach=True)),
        "rounding": lambda: (quantised, (rand(64, 40),)),
        "topk and sort": lambda: (sorted_values, (rand(16, 30),)),
        "graph break": lambda: (with_break, (rand(12, 16, grad=True), rand(16, 20, grad=True))),
        "in place": lambda: (in_place, (rand(10, 6), rand(6))),
        "fft": lambda: (complex_numbers, (rand(4, 32),)),
        "statistics": lambda: (statistics, (rand(9, 33, grad=True),)),
        "cancellation": lambda: (cancelled, (rand(16, 50) * 100, rand(16, 50))),
        "einsum and masks": lambda: (einsum_and_masks, (rand(2, 8, 5, grad=True), rand(2, 8, 5))),
        "float16": lambda: (half_values, (rand(12, 40),)),
        "rotary": lambda: (rotary, (rand(2, 6, 16), rand(6, 8) * 50)),
        "images": lambda: (grids, (rand(1, 2, 8, 8, grad=True),)),
        "dropout and rand": lambda: (dropped, (rand(20, 30, grad=True),)),
        "index_add and scatter": lambda: (indexed, (rand(30, 5, grad=True), torch.randint(0, 20, (30,)))),
        "losses": lambda: (losses, (rand(8, 12, grad=True), rand(8, 12))),
    }  # fmt: skip


def main() -> int:
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="the number of seeds for each case (default: 3)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--only", default="", help="use only cases whose names contain this word")
    parser.add_argument("--start-at", default="", help="begin with the first case whose name contains this word")
    parser.add_argument("--backend", default="inductor", help="the backend that compiles the cases (default: inductor)")
    arguments = parser.parse_args()
    alarms = unmeasured = total = 0
    is_reached = False
    for name, make in cases().items():
        is_reached = is_reached or arguments.start_at in name
        if arguments.only not in name or not is_reached:
            continue
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            torch.manual_seed(seed)
            torch._dynamo.reset()
            function, inputs = make()
            start = time.perf_counter()
            report = depyf.numerics(torch.compile(function, backend=arguments.backend), *inputs)
            total += 1
            is_alarm, is_unmeasured = (
                report.kind == "compiler",
                report.kind in ("not measured", "nothing compiled") or report.notes,
            )
            alarms += is_alarm
            unmeasured += bool(is_unmeasured)
            mark = "ALARM" if is_alarm else "?" if is_unmeasured else "ok"
            print(
                f"{mark:6} {name}, seed {seed} ({time.perf_counter() - start:.0f} s): {report.kind}: {report.verdict}",
                flush=True,
            )
            if is_alarm or is_unmeasured or any(not row.is_explained for graph in report.graphs for row in graph.rows):
                print("    " + str(report).replace("\n", "\n    "), flush=True)
    print(f"{total} calls without a fault: {alarms} false alarms, {unmeasured} not measured whole")
    return int(alarms > 0)


if __name__ == "__main__":
    sys.exit(main())
