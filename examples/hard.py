"""Functions whose Dynamo output no Python source compiles to: values kept on the stack across a graph break, a with
block entered by hand, cells passed as values, mutations replayed in an order of their own.

    python hard.py [BACKEND]     compiles each, compares with eager, prints ok or the difference
"""

import sys

import torch


def break_in_with(x):
    with torch.no_grad():
        y = x * 2
        torch._dynamo.graph_break()
        z = y + 1
    return z * x


def break_in_try(x, log):
    try:
        y = x.sin()
        print("side effect")
        z = y.cos()
    finally:
        log.append("finally")
    return z


def break_in_loop(x):
    for i in range(3):
        x = x + i
        torch._dynamo.graph_break()
    return x


def values_on_the_stack(x):
    return x.sin() + (x * 2, torch._dynamo.graph_break(), x.cos())[2] * len([x, x])


def closure(x):
    k = x + 1

    def inner(y):
        nonlocal k
        k = k * y
        return k

    a = inner(x)
    torch._dynamo.graph_break()
    return inner(a) + k


def mutation(x, items, table):
    items.append(x * 2)
    table["k"] = items[0] + 1
    items[0] = 5
    return table["k"].sum()


def generator(x):
    def steps():
        for i in range(3):
            yield x * i

    total = 0
    for step in steps():
        total = total + step
    torch._dynamo.graph_break()
    return [u + total for u in (x, x * 2)]


def keyword_only(x, *rest, k=2, **options):
    y = x * k
    torch._dynamo.graph_break()
    return y + len(rest), sorted(options)


def nested_break(x):
    def helper(y):
        print("in helper")
        return y + 1

    z = x * 2
    return helper(z) * helper(z + 1)


def free_variable():
    captured = torch.ones(3)

    def f(x, *, k=2, **options):
        def g(y):
            return y * captured

        items = [g(x)]
        items.append(k)
        torch._dynamo.graph_break()
        return items, options

    return f


def cases():
    """Name, function, and a maker of fresh arguments (positional, keyword)."""

    def ones():
        return torch.ones(3)

    yield "break_in_with", break_in_with, lambda: ((ones(),), {})
    yield "break_in_try", break_in_try, lambda: ((ones(), []), {})
    yield "break_in_loop", break_in_loop, lambda: ((ones(),), {})
    yield "values_on_the_stack", values_on_the_stack, lambda: ((ones(),), {})
    yield "closure", closure, lambda: ((ones(),), {})
    yield "mutation", mutation, lambda: ((ones(), [], {}), {})
    yield "generator", generator, lambda: ((ones(),), {})
    yield "keyword_only", keyword_only, lambda: ((ones(), 1, 2), {"k": 3, "z": 1, "a": 2})
    yield "nested_break", nested_break, lambda: ((ones(),), {})
    yield "free_variable", free_variable(), lambda: ((ones(),), {"k": 3, "q": 5})


def same(a, b):
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and torch.allclose(a, b)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b


def main(backend="eager"):
    bad = 0
    for name, fn, make in cases():
        args, kwargs = make()
        expected = fn(*args, **kwargs), args
        compiled = torch.compile(fn, backend=backend)
        for _ in range(2):
            args, kwargs = make()
            got = compiled(*args, **kwargs), args
            ok = same(expected, got)
            bad += not ok
        print(name, "ok" if ok else f"differs: {expected} {got}")
    return bad


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
