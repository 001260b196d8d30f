"""Functions whose guards, taken together, are of every kind that PyTorch has; CASES at the end lists the functions.

Each function comes with a function that creates the local variables with which it is compiled.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import itertools
import types
import weakref
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from typing import Any

import numpy
import torch._dynamo
import torch._opaque_base
from torch.autograd import forward_ad

import torch
from depyf.compat import dynamo


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Options:
    scale: float = 2.0
    name: str = "n"
    table: dict = dataclasses.field(default_factory=dict)


Pair = namedtuple("Pair", "first second")
SCALE = 3.0
TABLE = {"a": 1.0, "b": (1, 2)}
WEIGHT = torch.ones(3)
REFERENCE = weakref.ref(WEIGHT)


def ones(*shape):
    return torch.ones(*(shape or (3,)))


def constants(x, i, f, s, b, none, flag, kind, dtype, color, part):
    if none is None and flag and not b and color is Color.RED:
        x = x.to(dtype)
    return x * f * (i if s == "s" else 1) + kind(2) + x[part].sum()


def not_numbers(x, f, c):
    return x + (1 if f != f else 2) + (1 if c != c else 2)


def containers(x, items, pair, named, table, ordered, default, chosen, frozen):
    out = x + items[0] * pair[1] + named.first
    if "k" in table and "z" not in table:
        out = out * table["k"]
    if 3 in chosen and 4 not in chosen and 1 in frozen:
        out = out + 1
    return out + ordered["o"] + default["d"] + len(table)


def ordered_keys(x, table):
    for key, value in table.items():
        x = x * value + len(str(key))
    return x


def iterators(x, items, numbers, count):
    for i in items:
        x = x + i
    for i in numbers:
        x = x + i
    return x + next(count)


def attributes(x, options):
    if hasattr(options, "missing"):
        return x
    return x * options.scale + len(options.name) + options.table["t"]


def global_values(x):
    return x * SCALE + TABLE["a"] + TABLE["b"][1] + WEIGHT


def mapping(x, proxy):
    return x + sum(proxy.values())


def defaults(x, k=2, *, j=(1, 2)):
    return helper(x) + k + j[0]


def helper(x, factor=2.0, *, shift=1.0):
    return x * factor + shift


def tensors(x, y, z):
    return x + y + z.sum()


def same_tensor(x, y):
    return x + y + (1 if x is y else 0)


def dynamic(x, y):
    if x.shape[0] > 4:
        return x + y
    return x - y


def array(x):
    return torch.from_numpy(x) + 1


def with_grad(x):
    return x * (x.grad if x.grad is not None else 1)


def forward_mode(x):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(forward_ad.make_dual(x, x))[1]


def weak(x):
    return x + REFERENCE()


def overlapping(x, y):
    x.add_(1)
    return x + y


def key_sets(x, keys):
    return x + (1 if keys.has(torch._C.DispatchKey.CPU) else 0)


def pytree_nodes(x):
    return x + len(torch.utils._pytree.SUPPORTED_NODES)


class Opaque(torch._opaque_base.OpaqueBase):
    factor = 2


def opaque(x, thing):
    return torch.ops.depyf_tests.scale(x, thing)


def register_opaque() -> None:
    from torch._library.opaque_object import get_opaque_type_name, register_opaque_type

    register_opaque_type(Opaque, typ="reference")
    torch.library.define("depyf_tests::scale", f"(Tensor x, {get_opaque_type_name(Opaque)} thing) -> Tensor")
    torch.library.impl("depyf_tests::scale", "CompositeExplicitAutograd", lambda x, thing: x * thing.factor)
    torch.library.register_fake("depyf_tests::scale", lambda x, thing: torch.empty_like(x))


register_opaque()
THING = Opaque()


def step(optimizer):
    optimizer.step()


def make_optimizer() -> torch.optim.Optimizer:
    weights = [torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(2))]
    for one in weights:
        one.grad = torch.ones_like(one)
    optimizer = torch.optim.SGD(weights, lr=0.1, momentum=0.9)
    optimizer.step()
    return optimizer


OPTIMIZER = make_optimizer()


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.register_buffer("bias", torch.ones(3))
        self.scale = 1.0
        self.kind = Color.RED

    def forward(self, x):
        if self.training and self.kind is Color.RED:
            x = x * 2
        return self.inner(x) * self.scale + self.bias


MODULE = Module()


def closure() -> Callable[..., Any]:
    captured, number = torch.ones(3), 2

    def inner(x):
        return x * captured + number

    return inner


INNER = closure()


@contextlib.contextmanager
def dynamo_config(**values):
    import torch._dynamo.config as config

    with config.patch(**values):
        yield


@dataclasses.dataclass
class Case:
    name: str
    function: Callable[..., Any]
    make: Callable[[], dict[str, Any]]
    backend: str = "eager"
    dynamic: bool | None = None
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    inner: tuple[str, dict[str, Any]] | None = None
    """(The name, the local variables) of a called function, if its guards are tested instead of those of `function`."""
    grad: bool = True
    """True if gradients are recorded when the function with the tested guards starts."""

    fixed: tuple[str, ...] = ()
    """The prefixes of the names of values that a test cannot change and restore."""

    def code(self) -> types.CodeType:
        if self.inner is not None:
            return next(
                code for code in dynamo.compiled_codes() if code.co_name == self.inner[0] and code.co_argcount > 1
            )
        return (self.function.forward if isinstance(self.function, torch.nn.Module) else self.function).__code__

    def compile(self) -> dict[str, Any]:
        """Compiles the function anew. Returns the local variables with which the function was compiled."""
        torch._dynamo.reset()
        local = self.make()
        arguments = {k: v for k, v in local.items() if k not in ("self", "captured", "number")}
        with dynamo_config(**self.settings):
            torch.compile(self.function, backend=self.backend, dynamic=self.dynamic)(**arguments)
        if self.inner is not None:
            return dict(self.inner[1])
        again = self.make()
        again.update({k: v for k, v in local.items() if k in ("self", "captured", "number")})
        return again


def overlap() -> dict[str, Any]:
    whole = torch.ones(8)
    return {"x": whole[:5], "y": whole[3:]}


def marked(kind: str) -> Callable[[], dict[str, Any]]:
    mark = {
        "dynamic": torch._dynamo.mark_dynamic,
        "weak": torch._dynamo.maybe_mark_dynamic,
        "static": torch._dynamo.mark_static,
        "unbacked": torch._dynamo.decorators.mark_unbacked,
    }[kind]

    def make() -> dict[str, Any]:
        x = ones(6, 3)
        mark(x, 0)
        return {"x": x, "y": ones(3), "z": ones(4)}

    return make


def same() -> dict[str, Any]:
    x = ones()
    return {"x": x, "y": x}


def closed_over(function: Callable[..., Any]) -> dict[str, Any]:
    return {n: c.cell_contents for n, c in zip(function.__code__.co_freevars, function.__closure__, strict=True)}


CASES = [
    Case(
        "constants",
        constants,
        lambda: {
            "x": ones(),
            "i": 2,
            "f": 1.5,
            "s": "s",
            "b": False,
            "none": None,
            "flag": True,
            "kind": int,
            "dtype": torch.float64,
            "color": Color.RED,
            "part": slice(0, 2),
        },
    ),
    Case("not_numbers", not_numbers, lambda: {"x": ones(), "f": float("nan"), "c": complex("nan")}),
    Case(
        "containers",
        containers,
        lambda: {
            "x": ones(),
            "items": [1.0, 2],
            "pair": (ones(), 2),
            "named": Pair(ones(), 2),
            "table": {"k": 2.0, "j": 1},
            "ordered": OrderedDict(o=1.0),
            "default": defaultdict(int, d=3),
            "chosen": {3, 5},
            "frozen": frozenset({1, 2}),
        },
    ),
    Case("ordered_keys", ordered_keys, lambda: {"x": ones(), "table": {"a": ones(), "b": 2, Color.RED: 3, 7: 4.0}}),
    Case(
        "iterators",
        iterators,
        lambda: {"x": ones(), "items": iter((1, 2, 3)), "numbers": iter(range(1, 7, 2)), "count": itertools.count(2)},
    ),
    Case("attributes", attributes, lambda: {"x": ones(), "options": Options(table={"t": 1.0})}),
    Case("global_values", global_values, lambda: {"x": ones()}),
    Case("mapping", mapping, lambda: {"x": ones(), "proxy": types.MappingProxyType({"a": 1, "b": 2})}),
    Case("defaults", defaults, lambda: {"x": ones(), "k": 2, "j": (1, 2)}),
    Case("tensors", tensors, lambda: {"x": ones(2, 3), "y": ones(2, 3).t().contiguous().t(), "z": ones(4).double()}),
    Case("requires_grad", tensors, lambda: {"x": ones(2, 3).requires_grad_(), "y": ones(2, 3), "z": ones(1)}),
    Case("same_tensor", same_tensor, same),
    Case("same_tensor_in_the_tree", same_tensor, same, settings={"use_lamba_guard_for_object_aliasing": False}),
    Case("dynamic", dynamic, lambda: {"x": ones(6, 3), "y": ones(6, 3)}, dynamic=True),
    Case(
        "dynamic_in_cpp",
        dynamic,
        lambda: {"x": ones(6, 3), "y": ones(6, 3)},
        dynamic=True,
        settings={"enable_cpp_symbolic_shape_guards": True},
    ),
    *(Case(f"marked_{kind}", tensors, marked(kind)) for kind in ("dynamic", "weak", "static", "unbacked")),
    Case("array", array, lambda: {"x": numpy.ones(3)}),
    Case("forward_mode", forward_mode, lambda: {"x": ones()}),
    Case("weak", weak, lambda: {"x": ones()}),
    Case("overlapping", overlapping, overlap, backend="aot_eager", dynamic=True),
    Case(
        "optimizer",
        step,
        lambda: {"optimizer": OPTIMIZER},
        inner=("step", {"self": OPTIMIZER, "closure": None}),
        grad=False,
        fixed=("G['__optimizer_",),  # a weak reference to an object that stays alive
    ),
    # The code by which torch.ops finds its attributes fails after a change of torch's own modules.
    Case("opaque", opaque, lambda: {"x": ones(), "thing": THING}, fixed=("G['torch']",)),
    Case("key_sets", key_sets, lambda: {"x": ones(), "keys": torch._C._dispatch_keys(torch.ones(1))}),
    Case("pytree_nodes", pytree_nodes, lambda: {"x": ones()}),
    Case("module", MODULE, lambda: {"self": MODULE, "x": ones(2, 3)}),
    Case("closure", INNER, lambda: {"x": ones(), **closed_over(INNER)}),
]
