"""A graph break in four lines: the branch depends on data, so torch.compile makes three functions of one.

python toy.py [BACKEND]
"""

import inspect
import sys

import torch


@torch.compile
def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def main(backend="inductor"):
    compiled = torch.compile(inspect.unwrap(toy_example), backend=backend)
    torch.manual_seed(0)
    return [compiled(torch.randn(10), torch.randn(10)) for _ in range(100)]


if __name__ == "__main__":
    main(*sys.argv[1:])
