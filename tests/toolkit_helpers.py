"""Functions of every kind for the tests of cache entries, each with an edit whose effect can be seen."""

from __future__ import annotations

import ast

import torch


def compiles():
    """Returns the number of graphs that Dynamo has compiled so far."""
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def scaled(source, factor=100):
    """Returns the source with the value of each return statement multiplied by a factor."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            node.value = ast.BinOp(node.value, ast.Mult(), ast.Constant(factor))
    return ast.unparse(ast.fix_missing_locations(tree))


def toy(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


class Scale(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((3,), float(weight)))

    def forward(self, x):
        return x * self.weight

    def twice(self, x, /, *more, k=2, **rest):
        return x * self.weight * k


def with_free_variables():
    factor, offset = torch.ones(3) * 3, 2.0

    def inner(x, *more, q, **rest):
        nonlocal offset
        return x * factor * q + offset

    def set_offset(value):
        nonlocal offset
        offset = value

    return inner, set_offset


def with_cell_variable(x):
    def nested():
        return x * 2

    return nested() + 1


def broken(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


def broken_with_free_variables():
    factor = torch.ones(3) * 3

    def inner(x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * factor

    return inner


def first_resume(fn):
    import depyf

    return depyf.cache_entries(fn)[0].resume_functions[0]


CASES = (
    "function",
    "module",
    "method",
    "free variables",
    "cell variable",
    "lambda",
    "module of torch",
    "before a break",
    "resume function",
    "resume function with free variables",
)


def cases(backend):
    """Returns a dict from a name to (a call of a compiled function, the object whose cache entries are read)."""
    x = torch.tensor([1.0, 2.0, 3.0])

    def compiled(fn):
        return torch.compile(fn, backend=backend)

    out = {}
    toy_fn, module, method = compiled(toy), compiled(Scale(2)), compiled(Scale(2).twice)
    closure, cells = compiled(with_free_variables()[0]), compiled(with_cell_variable)
    lambda_fn, linear = compiled(lambda x, y=2: x * y), compiled(torch.nn.Linear(3, 3))
    break_fn, break_closure = compiled(broken), compiled(broken_with_free_variables())
    out["function"] = (lambda: toy_fn(x, x + 1), toy_fn)
    out["module"] = (lambda: module(x), module)
    out["method"] = (lambda: method(x, k=5), method)
    out["free variables"] = (lambda: closure(x, q=2), closure)
    out["cell variable"] = (lambda: cells(x), cells)
    out["lambda"] = (lambda: lambda_fn(x), lambda_fn)
    out["module of torch"] = (lambda: linear(x), linear)
    out["before a break"] = (lambda: break_fn(x), break_fn)
    for name, fn in (("resume function", break_fn), ("resume function with free variables", break_closure)):
        fn(x)
        out[name] = (lambda fn=fn: fn(x), first_resume(fn))
    return out
