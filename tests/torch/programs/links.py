"""Two compilations that end at the same break, and a resume function that is never compiled."""

import torch


def ends_twice(x, n):
    x = x + n
    print("the break")
    return x * 2


def rest_without_tensors(x):
    x.add_(1)
    print("the other break")
    return 5


compiled = torch.compile(ends_twice, backend="eager")
compiled(torch.ones(2), 1)
compiled(torch.ones(2, dtype=torch.float64), 1)
torch.compile(rest_without_tensors, backend="eager")(torch.ones(2))
