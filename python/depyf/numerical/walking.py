"""Runs an FX graph node by node, in the graph's own types or in double precision.

In a run in double precision every floating value is a double, so that operators hardly round. In a run in double
precision, casts between floating types do nothing, and constants are created as doubles. A node that draws random
numbers draws the same numbers in a run in double precision as in the run in the graph's own types. If the operator of a
node has no kernel for doubles, the node is computed in the graph's own types also in double precision.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from depyf.numerical import bounds, measuring

_CASTS = {"float", "half", "bfloat16"}
"""Names of the tensor methods that cast a tensor to a floating type."""
_OF_BITS = ("view.dtype", "view_as_real", "bitwise_left_shift")


@dataclass
class Tape:
    """The data that a run of a graph in its own types records for later runs in double precision."""

    random_states: dict[str, Any] = field(default_factory=dict)
    """Maps the name of a node that draws random numbers to the generator's state before the node ran."""
    dtypes: dict[str, Any] = field(default_factory=dict)
    """Maps the name of a node to the type of its value, if the value is a tensor."""


def double_type(dtype: Any) -> Any:
    """Returns the type that a run in double precision uses in place of `dtype`: `float64` for `float32`, `float16` and
    `bfloat16`, `complex128` for a complex type, and any other type unchanged."""
    import torch

    if dtype in (torch.float32, torch.float16, torch.bfloat16):
        return torch.float64
    return torch.complex128 if dtype in (torch.complex64, torch.complex32) else dtype


def widen(value: Any) -> Any:
    """Returns `value` with all its floating and complex tensors converted to double precision."""
    import torch

    if isinstance(value, torch.Tensor):
        wide = torch.float64 if "float8" in str(value.dtype) else double_type(value.dtype)
        return value if wide == value.dtype else value.to(wide)
    if isinstance(value, torch.dtype):
        return double_type(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(widen, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(widen, value))
    if isinstance(value, dict):
        return {key: widen(item) for key, item in value.items()}
    return value


def _absolute(value: Any) -> Any:
    """Returns `value` with each of its floating tensors replaced by the tensor's absolute values."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.abs() if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(map(_absolute, value))
    if isinstance(value, dict):
        return {key: _absolute(item) for key, item in value.items()}
    return value


class Walk:
    """One run of a graph.

    Args:
        module: the graph module, whose graph is not changed.
        inputs: the values of the graph's placeholders; the run can change the values in place.
        tape: the record of random states and types, which a run in the graph's own types writes and a run in double
            precision reads.
        is_double: true for a run in double precision.
        noise: a random generator for simulated rounding errors, which are added to the values of a run in double
            precision; None adds no errors.
    """

    def __init__(
        self, module: Any, inputs: list[Any], tape: Tape, *, is_double: bool = False, noise: Any = None
    ) -> None:
        self.module = module
        self._nodes = list(module.graph.nodes)
        self._inputs = iter(inputs)
        self._tape = tape
        self._is_double = is_double
        self._noise = noise
        self._values: dict[Any, Any] = {}
        self._last_uses = _last_uses(self._nodes)
        self.output: Any = None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Yields a pair of each node and its value. The value of a node is freed as soon as all nodes that read it have
        run."""
        for node in self._nodes:
            value = self._compute(node)
            self._values[node] = value
            yield node, value
            del value
            for dead in self._last_uses.get(node, ()):
                self._values.pop(dead, None)

    def run(self) -> Any:
        """Runs the graph and returns its output."""
        for _ in self:
            pass
        return self.output

    def argument_values(self, node: Any) -> dict[str, Any]:
        """Returns a dict with the values of the nodes that `node` reads, by the names of these nodes; values that were
        already freed are left out."""
        return {source.name: self._values[source] for source in node.all_input_nodes if source in self._values}

    def _compute(self, node: Any) -> Any:
        import torch

        if node.op == "placeholder":
            return self._noted(node, next(self._inputs))
        if node.op == "output":
            self.output = torch.fx.node.map_arg(node.args[0], self._values.__getitem__)
            return self.output
        if node.op == "get_attr":
            value = _attribute(self.module, node.target)
            return widen(value) if self._is_double and isinstance(value, torch.Tensor) else self._noted(node, value)
        args = torch.fx.node.map_arg(node.args, self._values.__getitem__)
        kwargs = torch.fx.node.map_arg(node.kwargs, self._values.__getitem__)
        if self._is_double:
            return self._in_double(node, args, kwargs)
        before = torch.get_rng_state()
        value = self._call(node, args, kwargs)
        if not torch.equal(before, torch.get_rng_state()):
            self._tape.random_states[node.name] = before
        return self._noted(node, value)

    def _noted(self, node: Any, value: Any) -> Any:
        """Returns `value`, the value of a node. If the run is in the graph's own types, also records the type of the
        value on the tape."""
        if not self._is_double and hasattr(value, "dtype"):
            self._tape.dtypes[node.name] = value.dtype
        return value

    def _in_double(self, node: Any, args: Any, kwargs: Any) -> Any:
        import torch

        state = self._tape.random_states.get(node.name)
        if state is not None:
            torch.set_rng_state(state)
        if state is not None or any(text in str(node.target) for text in _OF_BITS):
            return widen(self._in_own_types(node))
        if "autocast" in str(node.target):  # Autocast casts no doubles, so the node runs as it is.
            return self._call(node, args, kwargs)
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            value = self._call(node, widen(args), widen(kwargs))
        except (RuntimeError, NotImplementedError, TypeError):
            torch.set_default_dtype(default)
            return widen(self._in_own_types(node))
        finally:
            torch.set_default_dtype(default)
        value = widen(value)
        return value if self._noise is None else self._with_noise(node, value, args, kwargs)

    def _in_own_types(self, node: Any) -> Any:
        import torch

        def narrow(source: Any) -> Any:
            value = self._values[source]
            dtype = self._tape.dtypes.get(source.name)
            return value.to(dtype) if isinstance(value, torch.Tensor) and dtype is not None else value

        args, kwargs = torch.fx.node.map_arg(node.args, narrow), torch.fx.node.map_arg(node.kwargs, narrow)
        return self._call(node, args, kwargs)

    def _call(self, node: Any, args: Any, kwargs: Any) -> Any:
        if node.op == "call_function":
            if (
                str(node.target) == "aten.view.default"
            ):  # A pass may emit a view of a tensor that has other strides in this run.
                return args[0].reshape(args[1])
            return node.target(*args, **kwargs)
        if node.op == "call_method":
            name = (
                "double" if self._is_double and node.target in _CASTS and args[0].is_floating_point() else node.target
            )
            return getattr(args[0], name)(*args[1:], **kwargs)
        module = _attribute(self.module, node.target)
        if self._is_double:
            module = copy.deepcopy(module).double()
        return module(*args, **kwargs)

    def _with_noise(self, node: Any, value: Any, args: Any, kwargs: Any) -> Any:
        """Adds a random error to a node's value. The size of the error is the bound on the rounding error of the node's
        operator, for the type of the value in the graph."""
        import torch

        dtype = self._tape.dtypes.get(node.name)
        bound = bounds.bound_of(target_name(node))
        if dtype is None or not isinstance(value, torch.Tensor) or not value.is_floating_point() or not bound.ulps:
            return value
        if not dtype.is_floating_point:
            return value
        arguments = [item for item in measuring.tensors((args, kwargs)) if item.is_floating_point()]
        size = value.abs()
        if bound.adds_terms and arguments:
            absolute = _absolute(args), _absolute(kwargs)
            with contextlib.suppress(Exception):
                size = self._call(node, *absolute).abs()
        elif bound is bounds.NORMALISATION:
            size = size + size.square().mean().sqrt()
        unit = measuring.roundoff(dtype) / 2 * bound.ulps * bounds.growth(bound, value, arguments)
        return value + torch.randn(value.shape, generator=self._noise, dtype=value.dtype) * size * unit


def _last_uses(nodes: list[Any]) -> dict[Any, list[Any]]:
    """Returns a mapping from a node to the nodes whose values can be freed once it has run: the values that the node is
    the last to read, and its own value if no node reads it."""
    last: dict[Any, Any] = {}
    for node in nodes:
        last.setdefault(node, node)
        for source in node.all_input_nodes:
            last[source] = node
    uses: dict[Any, list[Any]] = {}
    for value, node in last.items():
        uses.setdefault(node, []).append(value)
    return uses


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module


def target_name(node: Any) -> str:
    """Returns the name of a node's operator, such as `aten.mean.dim`, `torch.nn.functional.gelu` or `Tensor.mul`."""
    if node.op == "call_method":
        return f"Tensor.{node.target}"
    if node.op in ("placeholder", "output", "get_attr"):
        return str(node.op)
    if type(node.target).__name__ == "OpOverload":
        return str(node.target)
    try:
        return str(node._pretty_print_target(node.target))
    except Exception:
        return str(getattr(node.target, "__name__", node.target))


def perturbed(inputs: list[Any], generator: Any) -> list[Any]:
    """Returns copies of the inputs in double precision. Each floating element gets a random error of about half an ulp
    of the input's own type."""
    import torch

    noisy = []
    for value in inputs:
        wide = widen(value)
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != torch.float64:
            unit = measuring.roundoff(value.dtype) / 2
            wide = wide * (1 + unit * torch.randn(value.shape, generator=generator, dtype=torch.float64))
        noisy.append(wide)
    return noisy
