"""Errors of a backend and of a full graph."""

import contextlib

import torch


def refuses(graph, inputs):
    raise RuntimeError("the backend gives up\nit has two reasons:\n  the last line says what to do")


class Net(torch.nn.Module):
    def helper(self, x):
        print("in the helper")
        return x + 1

    def forward(self, x):
        return self.helper(x * 2)


def branches(x):
    if x.sum() > 0:
        return x
    return -x


def doubles(x):
    return x * 2


x = torch.ones(2)
for function, options in (
    (doubles, {"backend": refuses}),
    (Net(), {"backend": "eager", "fullgraph": True}),
    (branches, {"backend": "eager", "fullgraph": True}),
):
    with contextlib.suppress(Exception):
        torch.compile(function, **options)(x)
with torch._dynamo.config.patch(suppress_errors=True):
    torch.compile(lambda x: x * 3, backend=refuses)(x)
