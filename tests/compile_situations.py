"""Situations that cost compile time, each with a change that saves it: pairs of functions that compile and run a
program."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from training_programs import Block


class Layers(nn.Module):
    """Equal layers, which `call` calls, with or without a compiled region for each layer."""

    def __init__(self, count: int, call: Callable[[nn.Module, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block(32) for _ in range(count))
        self.call = call

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = self.call(layer, x)
        return x


def _plain(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return layer(x)


@torch.compiler.nested_compile_region
def _region(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return layer(x)


def layers(backend: str, is_changed: bool) -> None:
    model = Layers(8, _region if is_changed else _plain)
    with torch.no_grad():
        torch.compile(model, backend=backend)(torch.randn(2, 16, 32))


def sizes(backend: str, is_changed: bool) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        for _ in range(12):
            x = (x @ x.t()).softmax(-1) @ x
        return x

    compiled = torch.compile(function, backend=backend, dynamic=None if is_changed else False)
    for size in range(5, 11):
        x = torch.randn(size, 16)
        if is_changed:
            torch._dynamo.mark_dynamic(x, 0)
        compiled(x)


def values(backend: str, is_changed: bool) -> None:
    def function(x: torch.Tensor, mode: str) -> torch.Tensor:
        for _ in range(12):
            x = torch.tanh(x @ x) * len(mode)
        return x

    compiled = torch.compile(function, backend=backend)
    for number in range(6):
        compiled(torch.randn(8, 8), "same" if is_changed else f"mode {number}")


def _steps(x: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = torch.tanh(x @ x)
    return x


def _with_breaks(x: torch.Tensor) -> torch.Tensor:
    x = _steps(x)
    torch._dynamo.graph_break()
    x = _steps(x) + 1
    torch._dynamo.graph_break()
    x = _steps(x) + 2
    torch._dynamo.graph_break()
    x = _steps(x) + 3
    torch._dynamo.graph_break()
    x = _steps(x) + 4
    torch._dynamo.graph_break()
    return _steps(x) + 5


def _without_breaks(x: torch.Tensor) -> torch.Tensor:
    x = _steps(x)
    x = _steps(x) + 1
    x = _steps(x) + 2
    x = _steps(x) + 3
    x = _steps(x) + 4
    return _steps(x) + 5


def broken(backend: str, is_changed: bool) -> None:
    torch.compile(_without_breaks if is_changed else _with_breaks, backend=backend)(torch.randn(8, 8))


def unrolled(backend: str, is_changed: bool) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        if is_changed:
            return y + torch.arange(400).sum()
        for number in range(400):
            y = y + number
        return y

    torch.compile(function, backend=backend)(torch.randn(8))


SITUATIONS: dict[str, Callable[[str, bool], None]] = {
    "layers": layers,
    "sizes": sizes,
    "values": values,
    "break": broken,
    "line": unrolled,
}
