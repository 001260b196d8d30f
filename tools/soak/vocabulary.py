"""The texts that the random programs of the soak are made of: the head of each module, and forms of expressions and statements.

In a form, `{}` and `{t}` stand for a tensor, and `{v}` for the name that the form binds.
"""

from __future__ import annotations

HEAD = '''\
import collections
import contextlib
import dataclasses
import functools
import itertools
import math
import operator

import torch
import torch.nn.functional as F


class Wrong(ValueError):
    pass


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Box:
    value: object
    count: int = 0

    def add(self, amount):
        self.value = self.value + amount
        self.count += 1
        return self.value


class Manager:
    """A context manager that notes, and swallows what it is told to."""

    def __init__(self, name, swallows=()):
        self.name, self.swallows = name, swallows

    def __enter__(self):
        LOG.append("enter " + self.name)
        return self

    def __exit__(self, kind, value, traceback):
        LOG.append("exit " + self.name + ("" if kind is None else " " + kind.__name__))
        return kind is not None and issubclass(kind, tuple(self.swallows))


@contextlib.contextmanager
def managed(scale):
    LOG.append(("managed", scale))
    try:
        yield scale
    finally:
        LOG.append("left")


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 + x * 0


@torch._dynamo.disable
def opaque(x, amount=1.0):
    return x * 0.5 + amount


@torch._dynamo.disable
def tell(*values):
    LOG.append(tuple(round(v.sum().item(), 4) if isinstance(v, torch.Tensor) else v for v in values))


def squares(x, count):
    for i in range(count):
        x = x * 0.5 + i
        yield x


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        STATE["calls"] = STATE["calls"] + 1
        return function(*args, **kwargs)

    return wrapper


LOG = []
STATE = {"calls": 0, "total": None}
COUNTER = 0
SCALE = 0.75
'''

UNARY = (
    *("{}.sin()", "{}.cos()", "{}.tanh()", "{}.abs()", "-{}", "{} * 2", "{} + 1", "{} * 0.5", "{} - 0.25", "{}.relu()"),
    *(
        "torch.sigmoid({})",
        "F.gelu({})",
        "{}.clone()",
        "{}.flip(0)",
        "{}.clamp(-1, 1)",
        "{}.exp().log1p()",
        "{}.detach()",
    ),
    *(
        "{}.to(torch.float64).to(torch.float32)",
        "torch.roll({}, 1)",
        "{}.cumsum(0)",
        "{}.contiguous()",
        "torch.zeros_like({})",
    ),
    *(
        "{}.view(-1)",
        "{}.reshape(1, -1).squeeze(0)",
        "{} * SCALE",
        "F.dropout({}, 0.5, training=False)",
        "{}.softmax(0)",
    ),
    "{} + torch.rand_like({})",
)
BINARY = (
    *("{} + {}", "{} - {}", "{} * {}", "{} / ({}.abs() + 1)", "torch.maximum({}, {})", "torch.where({} > 0, {}, 0.5)"),
    *("{} * {}.sum()", "{} + {}.mean()", "torch.stack([{}, {}]).sum(0)", "torch.add({}, {}, alpha=2)", "{} * {}.max()"),
    *("torch.lerp({}, {}, 0.5)", "{}.mul({})", "torch.cat([{}, {}])[: x.shape[0]]", "{} * ({} > 0)"),
)
IN_PLACE = (
    *(
        "{}.add_({})",
        "{}.mul_(0.5)",
        "{}.copy_({})",
        "{}.sub_({}.mean())",
        "{}[0] = 1.5",
        "{}[:2] += 1",
        "{}[0] += {}[-1]",
    ),
    *("{}.clamp_(-2, 2)", "{}.zero_()", "{}.tanh_()", "{} += {}", "{} *= 0.75", "{}.data.mul_(0.5)", "{}.fill_(0.25)"),
)
BREAKS = (
    *(
        "torch._dynamo.graph_break()",
        'print("at", n)',
        "tell({t}, n)",
        "LOG.append({t}.sum().item() > 0)",
        "print(f'{n} {flag}')",
    ),
    *("{v} = opaque({t})", "{v} = opaque({t}, amount=SCALE)", "tell(len(items), sorted(table))", "{t}.tolist()"),
    *(
        "str({t}.shape)",
        "tell(*items)",
        "torch._dynamo.graph_break(); {v} = {t}",
        "repr(n)",
        "LOG.append(str({t}.dtype))",
    ),
)
CONDITIONS = (
    *("flag", "not flag", "n > 2", "n % 2 == 0", "x.shape[0] > 3", "len(items) > 2", "'a' in table", "{t}.dim() == 1"),
    *("x.dtype == torch.float32", "flag and n > 1", "flag or x.shape[0] == 4", "1 < n < 4", "x.requires_grad"),
    *("isinstance({t}, torch.Tensor)", "STATE['calls'] > 1", "COUNTER % 2", "items", "not table", "extra is None"),
    *(
        "rest",
        "options.get('mode') == 'wide'",
        "torch.is_grad_enabled()",
        "mode is None",
        "callable(extra)",
        "n in (1, 3)",
    ),
)
DATA_CONDITIONS = ("{t}.sum() > 0", "{t}.mean().item() > 0.1", "bool({t}.max() > 0.5)", "({t} > 0).any()", "{t}[0] > 0")
ERRORS = (
    "ValueError",
    "KeyError",
    "Wrong",
    "RuntimeError",
    "ZeroDivisionError",
    "IndexError",
    "StopIteration",
    "TypeError",
)
RAISES = (
    *(
        "raise ValueError('wrong')",
        "raise Wrong(n)",
        "items[99]",
        "table['missing']",
        "1 // (n - n)",
        "raise KeyError(n)",
    ),
    *(
        "raise RuntimeError('bad') from None",
        "assert n < 0, 'small'",
        "int('x')",
        "next(iter(()))",
        "torch.ones(2) + torch.ones(3)",
    ),
    *("None.missing", "raise Wrong('deep') from ValueError('cause')", "undefined_name", "len(n)", "[].pop()"),
)
