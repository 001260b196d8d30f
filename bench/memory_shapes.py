"""Programs of many shapes for bench/memory.py. The places of graph breaks, locals and calls decide which tensors are
alive at which time.

Each function takes tensors and returns one tensor. `SHAPES` maps the name of each program to a function that creates
it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

SIZE = 4096  # floats of a tensor: 16 KiB, much more than all other allocations


def take(value: torch.Tensor) -> None:
    torch._dynamo.graph_break()


def straight(x):
    a = x * 2
    b = a.sin() + a.cos()
    c = (b * b).exp()
    return c - x


def loop(x):
    for index in range(6):
        y = x * index + 1
        x = y.sin()
    return x


def breaks_with_del(x):
    y = x * 1 + 1
    take(y)
    del y
    y = x * 2 + 1
    take(y)
    del y
    y = x * 3 + 1
    take(y)
    del y
    y = x * 4 + 1
    take(y)
    del y
    y = x * 5 + 1
    take(y)
    del y
    y = x * 6 + 1
    take(y)
    del y
    return x + 1


def breaks_unrolled(x):
    total = x
    for index in range(4):
        y = x * index + 1
        print(end="")
        total = total + y
        del y
    return total


def rebinding(x):
    x = x * 2
    torch._dynamo.graph_break()
    x = x.sin()
    torch._dynamo.graph_break()
    x = x + 1
    torch._dynamo.graph_break()
    x = x.cos()
    return x * 3


def _inner(x, scale):
    y = x * scale
    torch._dynamo.graph_break()
    z = y + 1
    del y
    print(end="")
    return z * 2


def nested_calls(x):
    a = _inner(x, 2)
    b = _inner(a, 3)
    del a
    c = _inner(b + 1, 4)
    return c


def many_locals(x):
    a, b, c, d = x + 1, x + 2, x + 3, x + 4
    torch._dynamo.graph_break()
    e = a * b
    del a, b
    torch._dynamo.graph_break()
    f = c * d
    del c
    torch._dynamo.graph_break()
    g = e + f
    del e, f
    torch._dynamo.graph_break()
    return g * d


def branches(x):
    y = x.sin() * 2
    z = y + 1
    if z.sum() > 0:
        w = z * 3
        del z
        if w.sum() > 0:
            x = w + y
    else:
        x = z - y
    return x.exp()


def containers(x):
    kept = [x * 2, x * 3, x * 4]
    torch._dynamo.graph_break()
    first = kept.pop(0)
    take(first)
    del first
    table = {"a": kept.pop() + 1, "b": kept.pop() * 2}
    torch._dynamo.graph_break()
    y = table.pop("a")
    y = y.cos()
    torch._dynamo.graph_break()
    return y + table["b"]


def closures(x):
    scale = x * 2

    def scaled(value):
        return value * scale

    y = scaled(x)
    torch._dynamo.graph_break()
    z = scaled(y)
    del y
    torch._dynamo.graph_break()
    return z.sum() + z


def contexts(x):
    y = x * 2
    with torch.no_grad():
        z = y.sin()
        torch._dynamo.graph_break()
        w = z + 1
        del z
    torch._dynamo.graph_break()
    v = y * w
    del y, w
    torch._dynamo.graph_break()
    return v + x


def handlers(x):
    y = x + 1
    try:
        z = y * 2
        print(end="")
        w = z.sin()
        del z
        take(w)
    except ValueError:
        return y
    print(end="")
    return w.cos()


def in_a_loop_that_runs_eagerly(x):
    for index in range(4):
        y = _inner(x, index + 1)
        take(y)
        del y
    return x + 1


def outputs(x):
    a, b = x.sin(), x.cos()
    torch._dynamo.graph_break()
    c, d = a * 2, b * 3
    del a, b
    take(c)
    e = c + d
    del c, d
    take(e)
    return e * 2


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.attention = torch.nn.MultiheadAttention(width, 2, batch_first=True)
        self.up, self.down = torch.nn.Linear(width, 2 * width), torch.nn.Linear(2 * width, width)

    def forward(self, x):
        y = self.norm(x)
        y, _ = self.attention(y, y, y, need_weights=False)
        x = x + y
        torch._dynamo.graph_break()
        return x + self.down(torch.relu(self.up(x)))


class Transformer(torch.nn.Module):
    """A transformer with a graph break in each layer."""

    def __init__(self, layers=12, width=32):
        super().__init__()
        self.layers = torch.nn.ModuleList(Block(width) for _ in range(layers))

    def forward(self, x):
        x = x.view(1, -1, 32)
        for layer in self.layers:
            x = layer(x)
        return x.flatten()


class Steps(torch.nn.Module):
    """A network whose activations the backward pass needs."""

    def __init__(self, width=64):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        x = x.view(-1, 64)
        for layer in self.layers:
            x = torch.relu(layer(x)) + x
            take(x)
        return x.flatten()


def of_function(
    function: Callable[[torch.Tensor], torch.Tensor],
) -> Callable[[], Callable[[torch.Tensor], torch.Tensor]]:
    return lambda: function


SHAPES: dict[str, Callable[[], Callable[[torch.Tensor], torch.Tensor]]] = {
    function.__name__: of_function(function)
    for function in (
        straight,
        loop,
        breaks_with_del,
        breaks_unrolled,
        rebinding,
        nested_calls,
        many_locals,
        branches,
        containers,
        closures,
        contexts,
        handlers,
        in_a_loop_that_runs_eagerly,
        outputs,
    )
} | {"training step with saved activations": Steps, "transformer of 12 layers, a break in each": Transformer}


def random_program(seed: int) -> str:
    """Returns the source of a program of one function `program(x)`: assignments, deletions, breaks, branches, calls."""
    rng = random.Random(seed)
    lines = ["import torch", "from memory_shapes import take", ""]
    helpers = []
    for number in range(rng.randrange(3)):
        helpers.append(f"helper_{number}")
        lines += [f"def helper_{number}(p, q):", *_statements(rng, ["p", "q"], [], 1, rng.randrange(2, 6)), ""]
    lines += ["def program(x):", *_statements(rng, ["x"], helpers, 1, rng.randrange(5, 16)), ""]
    return "\n".join(lines)


def _expression(rng: random.Random, names: list[str], helpers: list[str]) -> str:
    a, b = rng.choice(names), rng.choice(names)
    forms = [
        f"{a} * {rng.randrange(2, 9)}",
        f"{a} + {b}",
        f"torch.sin({a})",
        f"{a}.cos() - {b}",
        f"({a} + 1) * ({b} - 1)",
    ]
    if helpers:
        forms += [f"{rng.choice(helpers)}({a}, {b})"] * 2
    return rng.choice(forms)


def _statements(rng: random.Random, names: list[str], helpers: list[str], depth: int, count: int) -> list[str]:
    indent, lines, fixed = "    " * depth, [], names[0]
    names = list(names)
    for _ in range(count):
        kind = rng.choice(
            ["new", "new", "rebind", "break", "break", "take", "del", "if", "pair", "list", "with", "for"]
        )
        others = [name for name in names if name != fixed]
        if kind == "new":
            name = f"v{rng.randrange(8)}"
            lines.append(f"{indent}{name} = {_expression(rng, names, helpers)}")
            names = [*dict.fromkeys([*names, name])]
        elif kind == "rebind" and others:
            lines.append(f"{indent}{rng.choice(others)} = {_expression(rng, names, helpers)}")
        elif kind == "break":
            lines.append(indent + rng.choice(["torch._dynamo.graph_break()", 'print(end="")']))
        elif kind == "take":
            lines.append(f"{indent}take({rng.choice(names)})")
        elif kind == "del" and others:
            gone = rng.choice(others)
            names.remove(gone)
            lines.append(f"{indent}del {gone}")
        elif kind == "if" and depth < 3:
            lines.append(f"{indent}if {rng.choice(names)}.sum() > {rng.randrange(-1, 2)}:")
            lines += _statements(rng, names, helpers, depth + 1, rng.randrange(1, 4))[:-1] or [indent + "    pass"]
            # after a `del` in the branch, the bound names depend on the path taken
            if any(line.strip().startswith("del ") for line in lines):
                lines.append(f"{indent}return {fixed} * 2")
                names = [fixed]
                break
        elif kind == "pair":
            lines.append(f"{indent}w0, w1 = {_expression(rng, names, helpers)}, {_expression(rng, names, [])}")
            names = [*dict.fromkeys([*names, "w0", "w1"])]
        elif kind == "list" and others:
            lines.append(f"{indent}items = [{rng.choice(names)} * 2, {rng.choice(names)} + 3]")
            lines.append(indent + "torch._dynamo.graph_break()")
            lines.append(f"{indent}v9 = items.pop()")
            names = [*dict.fromkeys([*names, "v9"])]
        elif kind == "with":
            lines.append(f"{indent}with torch.no_grad():")
            lines.append(f"{indent}    v8 = {_expression(rng, names, helpers)}")
            names = [*dict.fromkeys([*names, "v8"])]
        elif kind == "for":
            lines.append(f"{indent}for index in range({rng.randrange(2, 4)}):")
            lines.append(f"{indent}    v7 = {rng.choice(names)} * index + 1")
            lines.append(f"{indent}    " + rng.choice(["take(v7)", "del v7", "pass"]))
            names = [name for name in names if name != "v7"]
    result = " + ".join(rng.sample(names, min(len(names), 2)))
    lines.append(f"{indent}return {result}")
    return lines
