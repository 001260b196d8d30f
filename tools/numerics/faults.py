"""Faults that are planted in PyTorch's compiler, each with the operator and line that `depyf.numerics` has to name.

A fault changes one table, class or setting of PyTorch while its `with` block is open. A row of FAULTS has a function
that plants the fault, the program, and the stage, operator and line that must be reported. All rows are in one file, as
a list that a reader can go through.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from torch.nn import functional as F

import programs
import torch
from sound import rand

aten = torch.ops.aten
Plant = Callable[[], contextlib.AbstractContextManager[None]]


@dataclass(frozen=True)
class Fault:
    """One planted fault."""

    name: str
    plant: Plant
    program: Callable[..., Any]
    inputs: Callable[[], tuple[Any, ...]]
    stage: str
    """A regular expression for `Finding.stage`."""
    operator: str
    """A regular expression for the operator at fault, or for the operator whose decomposition it is part of."""
    mark: str
    """A word in the comment of the line at fault."""
    backend: str = "inductor"


@contextlib.contextmanager
def item(table: dict[Any, Any], key: Any, value: Any) -> Iterator[None]:
    """Replaces an item of a table while the `with` block is open."""
    before = table[key]
    table[key] = value
    try:
        yield
    finally:
        table[key] = before


@contextlib.contextmanager
def attribute(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Replaces an attribute while the `with` block is open."""
    before = owner.__dict__.get(name, None) if isinstance(owner, type) else getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is None and isinstance(owner, type):
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def lowering(operator: Any, wrong: Callable[[Callable[..., Any], Any], Callable[..., Any]]) -> Plant:
    """Returns a function that replaces Inductor's lowering of an operator by the result of `wrong(original, lowering
    module)`."""

    def plant() -> contextlib.AbstractContextManager[None]:
        from torch._inductor import lowering as module

        return item(module.lowerings, operator, wrong(module.lowerings[operator], module))

    return plant


def decomposition(operator: Any, wrong: Callable[..., Any]) -> Plant:
    """Returns a function that replaces the decomposition of an operator in Inductor's table by `wrong`."""

    @contextlib.contextmanager
    def plant() -> Iterator[None]:
        from torch._inductor import decomposition as module

        tables = [module.decompositions]
        cached = getattr(module, "fast_random_decomps", None)
        if cached is not None:
            cached.cache_clear()
        before = [table.get(operator) for table in tables]
        for table in tables:
            table[operator] = wrong
        try:
            yield
        finally:
            for table, value in zip(tables, before, strict=True):
                if value is None:
                    del table[operator]
                else:
                    table[operator] = value
            if cached is not None:
                cached.cache_clear()

    return plant


def custom_pass(setting: str, change: Callable[[Any], None]) -> Plant:
    """Returns a function that installs `change` as a custom pass, with a setting such as `joint_custom_post_pass`."""

    def plant() -> contextlib.AbstractContextManager[None]:
        from torch._inductor import config

        return config.patch({setting: change})

    return plant


def output_code(pattern: str, replacement: str, count: int = 1) -> Plant:
    """Returns a function that replaces a pattern in the text of Inductor's output code before it is written."""

    @contextlib.contextmanager
    def plant() -> Iterator[None]:
        from torch._inductor.codecache import PyCodeCache

        original = PyCodeCache.write.__func__

        def write(cls: Any, source_code: str, *args: Any, **kwargs: Any) -> Any:
            return original(cls, re.sub(pattern, replacement, source_code, count=count), *args, **kwargs)

        with attribute(PyCodeCache, "write", classmethod(write)):
            yield

    return plant


def codegen(function: str, wrong: Callable[[str], str]) -> Plant:
    """Returns a function that replaces the C++ text that Inductor generates for an operator such as `exp`."""

    @contextlib.contextmanager
    def plant() -> Iterator[None]:
        from torch._inductor.codegen import cpp

        def replacement(x: Any) -> str:
            return wrong(str(x))

        with contextlib.ExitStack() as stack:
            for owner in (cpp.CppOverrides, cpp.CppVecOverrides):
                stack.enter_context(attribute(owner, function, staticmethod(replacement)))
            yield

    return plant


def scaled(factor: float) -> Callable[[Callable[..., Any], Any], Callable[..., Any]]:
    """Returns a `wrong` for `lowering`: it multiplies the result of the original lowering by a factor."""

    def wrong(original: Callable[..., Any], module: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: module.lowerings[aten.mul.Tensor](original(*args, **kwargs), factor)

    return wrong


def half_sum(original: Callable[..., Any], module: Any) -> Callable[..., Any]:
    """Returns a lowering that rounds its input to half precision."""

    def wrong(x: Any, *args: Any, **kwargs: Any) -> Any:
        return module.to_dtype(original(module.to_dtype(x, torch.float16), *args, **kwargs), x.get_dtype())

    return wrong


def each(target: Any, change: Callable[[Any, Any], None]) -> Callable[[Any], None]:
    """Returns a pass that calls `change(graph, node)` for each node that calls one operator."""

    def run(graph: Any) -> None:
        for node in list(graph.nodes):
            if node.op == "call_function" and node.target is target:
                change(graph, node)

    return run


def swap(graph: Any, node: Any) -> None:
    node.args = (node.args[1], node.args[0], *node.args[2:])


def leave_out(graph: Any, node: Any) -> None:
    node.replace_all_uses_with(node.args[0])
    graph.erase_node(node)


def becomes(target: Any) -> Callable[[Any, Any], None]:
    """Returns a function that replaces a node by a call of `target` with the same arguments."""

    def change(graph: Any, node: Any) -> None:
        with graph.inserting_before(node):
            new = graph.call_function(target, node.args, node.kwargs)
        new.meta = dict(node.meta)
        node.replace_all_uses_with(new)
        graph.erase_node(node)

    return change


def argument(index: int, value: Any) -> Callable[[Any, Any], None]:
    """Returns a function that replaces one argument of a node by a value."""

    def change(graph: Any, node: Any) -> None:
        args = list(node.args)
        args[index] = value
        node.args = tuple(args)

    return change


def drop_copies(graph: Any) -> None:
    for node in list(graph.nodes):
        if node.target is aten.copy_.default:
            node.replace_all_uses_with(node.args[1])
            graph.erase_node(node)


def wrong_gelu(x: Any, approximate: str = "none") -> Any:
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def wrong_gelu_backward(grad: Any, x: Any, approximate: str = "none") -> Any:
    return grad * 0.5 * (1 + torch.erf(x * 0.7071067811865476))


def wrong_softmax(x: Any, dim: int, half_to_float: bool) -> Any:
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / (e.sum(dim, keepdim=True) + 1e-3)


def half_softmax(x: Any, dim: int, half_to_float: bool) -> Any:
    y = x.to(torch.bfloat16)
    e = torch.exp(y - y.amax(dim, keepdim=True))
    return (e / e.sum(dim, keepdim=True)).to(x.dtype)


def wrong_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    mean = x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(((x - mean) ** 2).mean(-1, keepdim=True) + 10 * eps)
    y = (x - mean) * rstd
    y = y if weight is None else y * weight
    return (y if bias is None else y + bias), mean, rstd


def mean_inputs() -> tuple[Any, ...]:
    return rand(32, 48), rand(48, 64, grad=True)


def plain(*shapes: tuple[int, ...]) -> Callable[[], tuple[Any, ...]]:
    return lambda: tuple(rand(*shape) for shape in shapes)


def trained(*shapes: tuple[int, ...]) -> Callable[[], tuple[Any, ...]]:
    return lambda: tuple(rand(*shape, grad=True) for shape in shapes)


X, W = (32, 48), (48, 64)
LOWERING = r"lowering|output code"
FAULTS = [
    # Lowerings
    Fault("mean is scaled", lowering(aten.mean.dim, scaled(1.001)), programs.mean_of_relu, plain(X, W), LOWERING, "mean|sum", "MEAN"),
    Fault("sin is scaled", lowering(aten.sin.default, scaled(1.0001)), programs.difference, plain(X, X), LOWERING, "sin", "SIN"),
    Fault("cos is sin", lowering(aten.cos.default, lambda original, module: module.lowerings[aten.sin.default]),
          programs.difference, plain(X, X), LOWERING, "cos", "COS"),
    Fault("sum in half precision", lowering(aten.sum.dim_IntList, half_sum), programs.gelu_net, plain(X, W), LOWERING, "sum", "SUM"),
    Fault("amax is amin", lowering(aten.amax.default, lambda original, module: module.lowerings[aten.amin.default]),
          programs.clamped, plain(X, X), LOWERING, "amax", "AMAX"),
    Fault("argmax is argmin", lowering(aten.argmax.default, lambda original, module: module.lowerings[aten.argmin.default]),
          programs.clamped, plain(X, X), LOWERING, "argmax", "ARGMAX"),
    Fault("cumsum is scaled", lowering(aten.cumsum.default, scaled(1.01)), programs.neighbours, plain((32, 40), (32, 40)), LOWERING,
          "cumsum", "CUMSUM"),
    Fault("erf is tanh", lowering(aten.erf.default, lambda original, module: module.lowerings[aten.tanh.default]),
          programs.powers, plain(X, X), LOWERING, "erf", "ERF"),
    Fault("embedding is scaled", lowering(aten.embedding.default, scaled(0.999)), programs.embedded,
          lambda: (rand(50, 16), torch.randint(0, 50, (8, 5))), LOWERING, "embedding", "EMBEDDING"),
    Fault("flip flips nothing", lowering(torch.ops.prims.rev.default,
          lambda original, module: lambda x, dims: module.clone(x)), programs.stacked, plain(X, X), LOWERING, "flip|rev", "FLIP"),
    # C++ texts of kernels
    Fault("exp in C++", codegen("exp", lambda x: f"({x}).exp2()" if "tmp" in x else x), programs.normalised, plain(X, W), LOWERING,
          "exp", "EXP"),
    # Decompositions
    Fault("gelu by tanh", decomposition(aten.gelu.default, wrong_gelu), programs.gelu_net, plain(X, W), "decomposition", "gelu", "GELU"),
    Fault("softmax with an epsilon", decomposition(aten._softmax.default, wrong_softmax), programs.softmax_scores, plain(X, W),
          "decomposition", "softmax", "SOFTMAX"),
    Fault("softmax in bfloat16", decomposition(aten._softmax.default, half_softmax), programs.softmax_scores, plain(X, W),
          "decomposition", "softmax", "SOFTMAX"),
    Fault("layer_norm with another eps", decomposition(aten.native_layer_norm.default, wrong_norm), programs.normalised, plain(X, W),
          "decomposition", "layer_norm", "LAYER_NORM"),
    Fault("silu is sigmoid", decomposition(aten.silu.default, torch.sigmoid), programs.silu_gate, plain(X, W),
          "decomposition", "silu", "SILU"),
    # Backward formulas
    Fault("gelu_backward without its second term", decomposition(aten.gelu_backward.default, wrong_gelu_backward), programs.gelu_net,
          trained(X, W), "backward", "gelu", "GELU"),
    Fault("sigmoid_backward is scaled", decomposition(aten.sigmoid_backward.default, lambda g, y: g * y * (1 - y) * 1.01),
          programs.sigmoid_loss, trained(X, W), "backward", "sigmoid", "SIGMOID"),
    Fault("tanh_backward forgets the square", decomposition(aten.tanh_backward.default, lambda g, y: g * (1 - y)),
          programs.mean_of_relu, trained(X, W), "backward", "tanh", "TANH"),
    Fault("threshold_backward passes all", decomposition(aten.threshold_backward.default, lambda g, x, t: g * 1.0),
          programs.mean_of_relu, trained(X, W), "backward", "relu", "relu"),
    # Passes
    Fault("post-grad pass swaps sub", custom_pass("post_grad_custom_post_pass", each(aten.sub.Tensor, swap)), programs.difference,
          plain(X, X), "post-grad pass", "sub", "c = a - b"),
    Fault("post-grad pass makes mul of div", custom_pass("post_grad_custom_pre_pass", each(aten.div.Tensor, becomes(aten.mul.Tensor))),
          programs.difference, plain(X, X), "post-grad pass", "mul|div", "DIV"),
    Fault("joint pass leaves abs out", custom_pass("joint_custom_post_pass", each(aten.abs.default, leave_out)), programs.powers,
          plain(X, X), "joint pass", "abs", "POW"),
    Fault("joint pass changes a scalar", custom_pass("joint_custom_pre_pass", each(aten.mul.Tensor, argument(1, 0.126))),
          programs.softmax_scores, plain(X, W), "joint pass", "mul", r"scores \* 0.125"),
    Fault("pre-grad pass makes min of max", custom_pass("pre_grad_custom_pass", each(torch.sigmoid, becomes(torch.tanh))),
          programs.sigmoid_loss, lambda: (rand(*X) * 0.1, rand(*W)), "pre-grad pass", "tanh|sigmoid", "SIGMOID"),
    Fault("post-grad pass drops a cast to int", custom_pass("post_grad_custom_post_pass",
          each(torch.ops.prims.convert_element_type.default, leave_out)), programs.casts, plain(X, W), "post-grad pass",
          "convert_element_type", "TO_INT|HALF_MM"),
    Fault("post-grad pass drops a cast to float32", custom_pass("post_grad_custom_post_pass", each(aten.sum.dim_IntList, lambda g, n:
          n.__setattr__("kwargs", {"dtype": torch.bfloat16}))), programs.accumulated, plain((32, 3000)), "post-grad pass", "sum",
          "BF16_SUM"),
    Fault("post-grad pass shifts a slice", custom_pass("post_grad_custom_post_pass", each(aten.slice.Tensor, lambda g, n:
          n.__setattr__("args", (*n.args[:2], 0, 39) if n.args[2] == 1 else n.args))), programs.neighbours, plain((32, 40), (32, 40)),
          "post-grad pass", "slice", "SLICE"),
    # Mutation
    Fault("a pass drops copies into inputs", custom_pass("post_grad_custom_post_pass", drop_copies), programs.running_state,
          plain((16, 8), (8,)), "post-grad pass", "copy_", "STATE_ADD"),
    Fault("a pass drops the copy of a view", custom_pass("post_grad_custom_post_pass", drop_copies), programs.view_state,
          plain((16, 8), (3, 8)), "post-grad pass", "copy_", "VIEW_COPY"),
    # Output code
    Fault("another offset of a kernel's input", output_code(r"in_ptr0 \+ static_cast<int64_t>\(x(\d)", r"in_ptr0 + 1 + static_cast<int64_t>(x\1"),
          programs.accumulated, plain((32, 3000)), "output code", "sum|div|convert", "SUM|DIV|bfloat16"),
    Fault("a returned view with other strides", output_code(r"return \((buf\d+), \)", r"return (\1.flip(0), )"), programs.silu_gate,
          plain(X, W), "output code", "mul", "MUL"),
    Fault("operands of mm", output_code(r"extern_kernels\.mm\(([^,]+), ([^,]+), out=(\w+)\)", r"extern_kernels.mm(\1.flip(0), \2, out=\3)"),
          programs.softmax_scores, plain(X, W), "output code", "mm", "scores = x @ w|MM"),
    Fault("pooling of other rows", lowering(aten.mean.dim, scaled(0.99)), programs.convolved, lambda: (rand(2, 3, 8, 8), rand(4, 3, 3, 3)),
          LOWERING, "mean|sum", "MEAN"),
    # Graph breaks, attention and losses
    Fault("behind a graph break", lowering(aten.exp.default, scaled(1.001)), programs.broken, plain(X, W), LOWERING, "exp", "AFTER"),
    Fault("in front of a graph break", lowering(aten.relu.default, lambda original, module: module.lowerings[aten.abs.default]),
          programs.broken, plain(X, W), LOWERING, "relu", "BEFORE"),
    Fault("log_softmax with an epsilon", decomposition(aten._log_softmax.default, lambda x, dim, half:
          x - x.logsumexp(dim, keepdim=True) * 1.001), programs.cross, lambda: (rand(*X), rand(*W), torch.randint(0, 64, (32,))),
          "decomposition", "softmax|cross", "CROSS"),
    Fault("var without correction", lowering(aten.var.correction, lambda original, module: lambda x, axis=None, *, correction=None,
          keepdim=False: original(x, axis, correction=0, keepdim=keepdim)), programs.variance, plain(X), LOWERING, "var", "VAR"),
    Fault("softplus without beta", decomposition(aten.softplus.default, lambda x, beta=1, threshold=20: torch.log1p(torch.exp(-x.abs()))),
          programs.embedded, lambda: (rand(50, 16), torch.randint(0, 50, (8, 5))), "decomposition", "softplus", "SOFTPLUS"),
    Fault("where with its cases swapped", lowering(aten.where.self, lambda original, module: lambda c, a, b: original(c, b, a)),
          programs.clamped, plain(X, X), LOWERING, "where", "WHERE"),
    Fault("rsqrt is reciprocal", lowering(aten.rsqrt.default, lambda original, module: module.lowerings[aten.reciprocal.default]),
          programs.powers, plain(X, X), LOWERING, "rsqrt", "RSQRT"),
    Fault("sdpa without its scale", custom_pass("pre_grad_custom_pass", each(F.scaled_dot_product_attention, lambda g, n:
          n.__setattr__("kwargs", {**n.kwargs, "scale": 1.0}))), programs.attention, plain((1, 2, 8, 16), (1, 2, 8, 16), (1, 2, 8, 16)),
          "pre-grad pass", "scaled_dot_product", "SDPA"),
]  # fmt: skip
