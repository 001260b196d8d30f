"""A training program with slow code at known lines, which the peers are asked about."""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch import nn


class Block(nn.Module):
    """Sorts its hidden values, which takes nearly all of its time."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(32, 4096), nn.Linear(4096, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.up(x))
        ordered = torch.sort(hidden, -1).values  # slow to run
        return x + self.down(ordered)


class Model(nn.Module):
    """Two blocks, a loop that Dynamo unrolls, and a graph break."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Block(), Block()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.second(self.first(x))
        for number in range(100):
            x = x + number  # slow to trace
        print(end="")  # a break
        return x.square().mean()


def training(steps: int) -> Callable[[], None]:
    """Returns a function that trains the compiled model for some steps."""
    torch.manual_seed(0)
    model = torch.compile(Model())
    x = torch.randn(512, 32)

    def train() -> None:
        for _ in range(steps):
            model(x).backward()

    return train


if __name__ == "__main__":
    training(int(sys.argv[1]))()
