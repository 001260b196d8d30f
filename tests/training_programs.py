"""Twelve training programs for the tests of memory costs: each function returns a module or function, and the inputs of
a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import torch
from torch import nn


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int, heads: int = 4, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = dropout

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(self.first(x)).chunk(3, -1)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        hidden = F.gelu(self.up(self.second(x)))
        return x + F.dropout(self.down(hidden), self.dropout, self.training)


class Transformer(nn.Module):
    """A transformer: an embedding, blocks and an output layer."""

    def __init__(self, layers: int = 2, width: int = 32, dropout: float = 0.0, checkpointed: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.layers = nn.ModuleList(Block(width, dropout=dropout) for _ in range(layers))
        self.head = nn.Linear(width, 50)
        self.checkpointed = checkpointed

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.checkpointed else layer(x)
        return self.head(x)


class Convolutions(nn.Module):
    """A small network for pictures with batch normalisation and pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU()
        )
        self.head = nn.Linear(16 * 6 * 6, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x).flatten(1))


class Aliases(nn.Module):
    """A module that saves views of one tensor for the backward, and returns the tensor itself, too."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = torch.sigmoid(self.linear(x))
        left, right = h[:, :16], h[:, 16:]
        return h, (left * right).exp() @ h.t()[:16]


class Recurrent(nn.Module):
    """A loop over time steps."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(8, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x.new_zeros(x.shape[1], 16)
        for step in x:
            h = self.cell(step, h)
        return h


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1) @ v


def _half(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return torch.relu(x @ w).float().logsumexp(-1)


def _indexed(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    gathered = x[index].cumsum(0)
    return torch.where(gathered > 0, gathered, gathered.exp()).amax(1)


def _in_place(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y[:, 0] = 1.0
    y.mul_(x).tanh_()
    return y.sum(1, keepdim=True).expand(-1, 4) * x[:, :4]


def _leaf(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


PROGRAMS: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
    "two linear layers": lambda: (
        nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64)),
        (torch.randn(8, 64),),
    ),
    "transformer": lambda: (Transformer(), (torch.randint(0, 50, (4, 16)),)),
    "transformer with dropout": lambda: (Transformer(dropout=0.1), (torch.randint(0, 50, (4, 16)),)),
    "transformer under checkpoint": lambda: (Transformer(checkpointed=True), (torch.randint(0, 50, (4, 16)),)),
    "convolutions": lambda: (Convolutions(), (torch.randn(4, 3, 16, 16),)),
    "views and aliases": lambda: (Aliases(), (torch.randn(16, 32),)),
    "recurrent": lambda: (Recurrent(), (torch.randn(5, 3, 8),)),
    "attention": lambda: (_attention, tuple(_leaf(2, 4, 16, 8) for _ in range(3))),
    "autocast": lambda: (_half, (_leaf(16, 32), _leaf(32, 64))),
    "indices": lambda: (_indexed, (_leaf(20, 12), torch.randint(0, 20, (30,)))),
    "in place": lambda: (_in_place, (_leaf(8, 16),)),
    "embedding and loss": lambda: (
        lambda weight, tokens: F.cross_entropy(F.embedding(tokens, weight) @ weight.t(), tokens),
        (_leaf(50, 16), torch.randint(0, 50, (24,))),
    ),
}
