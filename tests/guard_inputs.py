"""Creates inputs for the guards of a compilation, in each of which one guarded value is replaced by another value."""

from __future__ import annotations

import builtins
import contextlib
import copy
import itertools
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy
from torch.overrides import TorchFunctionMode

import torch
from depyf.guards import value_paths

MARKS = ("_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices", "_dynamo_unbacked_indices")
MARKS += ("_dynamo_strict_unbacked_indices", "_dynamo_static_indices")


class Subclass(torch.Tensor):
    pass


class NoMode(TorchFunctionMode):
    pass


def marked(tensor, mark, told):
    tensor = tensor.detach().clone().requires_grad_(tensor.requires_grad)
    setattr(tensor, mark, {0})
    if told:
        tensor._has_dynamo_dim_marking = True
    return tensor


def like(value):
    """Returns a tensor that differs from the value only in its content."""
    out = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=value.device)
    out.copy_(torch.rand(value.size()).to(value.dtype))
    out = out.requires_grad_(value.requires_grad)
    return torch.nn.Parameter(out, value.requires_grad) if isinstance(value, torch.nn.Parameter) else out


def tensors(value):
    """Yields (name, tensor) for tensors that differ from the value in one respect each."""
    base = value.detach().clone()
    kinds = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.bool]
    kinds += [torch.complex64, torch.uint8]
    for dtype in kinds:
        yield f"dtype {dtype}", base.to(dtype)
    for shape in (
        (),
        (1,),
        (2,),
        (3,),
        (4,),
        (5, 3),
        (6, 3),
        (9, 3),
        (3, 3),
        (2, 3),
        (2, 3, 1),
        (64, 3),
        (0,),
        (2, 4),
        (65, 64),
    ):
        yield f"shape {shape}", torch.ones(shape, dtype=base.dtype)
    yield "requires_grad", (base.clone().requires_grad_(not value.requires_grad) if base.is_floating_point() else None)
    yield "parameter", torch.nn.Parameter(base.clone(), requires_grad=value.requires_grad and base.is_floating_point())
    yield "subclass", base.clone().as_subclass(Subclass)
    yield "meta", base.to("meta")
    if base.dim():
        wide = torch.ones([*base.shape[:-1], base.shape[-1] * 2], dtype=base.dtype)
        yield "strides", wide[..., ::2]
        yield "expanded", torch.ones([1] * base.dim(), dtype=base.dtype).expand(base.shape)
        yield (
            "reversed strides",
            base.permute(*reversed(range(base.dim()))).contiguous().permute(*reversed(range(base.dim()))),
        )
        yield "sparse", base.to_sparse()
    yield "negative view", torch._neg_view(base)
    yield "conjugate", base.to(torch.complex64).conj()
    for mark in MARKS:
        yield f"mark {mark}", marked(value, mark, True)
        yield f"half a mark {mark}", marked(value, mark, False)
    for i in range(3):
        yield f"content {i}", like(value)
    yield "numpy", base.numpy() if base.dtype is not torch.bfloat16 else None


def others(value) -> Iterator[tuple[str, Any]]:
    """Yields (name, replacement) for each replacement of a value."""
    if isinstance(value, torch._C.DispatchKeySet):
        # For a value that is no DispatchKeySet, PyTorch's guard raises an exception, and leaves __torch_function__
        # switched off.
        yield from [("other", torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)), ("same", value | value)]
        return
    yield "None", None
    yield "object", object()
    yield "string", "depyf"
    if isinstance(value, torch.Tensor):
        yield from tensors(value)
    elif isinstance(value, numpy.ndarray):
        for name, one in tensors(torch.from_numpy(value)):
            if type(one) is torch.Tensor and one.layout is torch.strided and one.device.type == "cpu":
                with contextlib.suppress(TypeError, RuntimeError):
                    yield name, one.numpy()
        for shape in ((1, 3), (3, 1), (7,), (2, 2), (3, 3, 3), (8,), (0, 3), (1, 1), (6,)):
            yield f"array {shape}", numpy.ones(shape)
    elif isinstance(value, bool):
        yield from [("negated", not value), ("int", int(value)), ("float", float(value))]
    elif isinstance(value, (int, float)):
        yield from [("more", value + 1), ("int", 7), ("float", float(value)), ("True", True), ("nan", float("nan"))]
        yield from [("same", type(value)(value)), ("text", str(value))]
    elif isinstance(value, str):
        yield from [("longer", value + "x"), ("bytes", value.encode()), ("same", "".join(list(value)))]
    elif isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        kind = type(value)
        yield from [("longer", kind([*value, 1])), ("shorter", kind(value[:-1])), ("copy", kind([*value]))]
        yield from [("empty", kind()), ("tuple", tuple(value)), ("list", list(value)), ("reversed", kind(value[::-1]))]
    elif type(value) is dict:
        yield from [("more", {**value, "depyf": 1}), ("empty", {}), ("copy", dict(value))]
        yield "reversed", dict(reversed(list(value.items())))
        for key in list(value)[:4]:
            yield f"without {key!r}", {k: v for k, v in value.items() if k != key}
    elif isinstance(value, (set, frozenset)):
        yield from [("more", value | {4}), ("less", type(value)(list(value)[1:])), ("copy", copy.copy(value))]
        yield from [("set", set(value)), ("frozenset", frozenset(value))]
    elif isinstance(value, complex):
        yield from [("number", 1 + 2j), ("half", complex(0, float("nan"))), ("float", 1.0)]
    elif isinstance(value, types.MappingProxyType):
        yield from [("more", types.MappingProxyType({**value, "z": 1})), ("copy", types.MappingProxyType(dict(value)))]
        yield "reversed", types.MappingProxyType(dict(reversed(list(value.items()))))
    elif type(value) is type(iter(())):
        yield from [("longer", iter((1, 2, 3, 4))), ("same", iter((1, 2, 3))), ("other", iter((1, 5, 3)))]
        yield "empty", iter(())
    elif type(value) is type(iter(range(0))):
        yield from [("same", iter(range(1, 7, 2))), ("longer", iter(range(1, 9, 2))), ("step", iter(range(1, 7, 1)))]
        yield "start", iter(range(2, 7, 2))
    elif isinstance(value, slice):
        yield from [("same", slice(value.start, value.stop)), ("other", slice(1, 2)), ("step", slice(0, 2, 1))]
    else:
        with contextlib.suppress(Exception):
            yield "copy", copy.copy(value)


@dataclass
class Input:
    name: str
    local: dict[str, Any]
    paths: tuple[str, ...] = ()
    """The expressions of the values that are changed; empty for the state of the process."""
    kind: str | None = None
    """The kind of the guard on a changed state of the process; None if no guard checks it."""


MISSING = object()
BUILTINS = vars(builtins)
# The attributes that torch itself needs in order to work.
NEEDED = {"_C", "_ops", "ops", "utils", "_library", "_dynamo", "autograd", "nn"}


class Inputs:
    """Iterates over all inputs for one compilation, as context managers."""

    def __init__(
        self, tree, local: dict[str, Any], scope: dict[str, Any], most: int | None = None, fixed: tuple[str, ...] = ()
    ) -> None:
        self.tree, self.local, self.scope = tree, local, scope
        self.paths: dict[int, str | None] = {}
        for node in tree.root:
            above = "L" if node.parent is tree.root else self.paths.get(id(node.parent))
            self.paths[id(node)] = value_paths.path(node, above)
        self.most = most
        self.fixed = fixed
        self.turn = 0
        self.not_tried: list[str] = []

    def read(self, node) -> Any:
        return eval(self.paths[id(node)] or "None[0]", {"torch": torch, "L": self.local, "G": self.scope})

    def __iter__(self) -> Iterator[contextlib.AbstractContextManager[Input]]:
        yield from self.states()
        # Combines two changes of the process's state. Each iteration creates new context managers, because a context
        # manager can be entered only once.
        for i, j in itertools.combinations(range(9), 2):
            one, other = (next(itertools.islice(self.states(), k, None)) for k in (i, j))
            yield together(one, other)
        yield from self.harmless()
        for node in self.tree.root:
            if node.step is None or node.step.kind == "GlobalsGuardAccessor" or node.source.startswith(self.fixed):
                continue
            try:
                value = self.read(node)
            except Exception:
                self.not_tried.append(node.source)
                continue
            tried = False
            ways = [("missing", MISSING), *others(value)]
            if self.most is not None and len(ways) > self.most:
                # Each value gets `most` other ways, so that all ways are tried over several values.
                self.turn += self.most
                ways = [ways[(self.turn + i) % len(ways)] for i in range(self.most)]
            for name, other in ways:
                # `change` returns None if the value cannot be replaced.
                change = self.change(node, other)
                if change is not None:
                    tried = True
                    yield self.changed(f"{node.source}: {name}", node, change)
                if change is not None and step_of_local(node) and other is not MISSING:
                    names = [k for k, v in self.local.items() if v is value]
                    if len(names) > 1:
                        local = {**self.local, **dict.fromkeys(names, other)}
                        paths = tuple(f"L[{k!r}]" for k in names)
                        yield contextlib.nullcontext(Input(f"{names}: {name}", local, paths))
            if not tried:
                self.not_tried.append(node.source)

    @contextlib.contextmanager
    def changed(self, name, node, change):
        with change() as local:
            path = self.paths[id(node)]
            yield Input(name, local, () if path is None else (path,))

    def harmless(self):
        """Changes the content of a tensor, which no guard checks."""
        for i in range(20):
            local = {
                k: like(v) if type(v) is torch.Tensor and v.layout is torch.strided else v
                for k, v in self.local.items()
            }
            if len({id(v) for v in self.local.values() if type(v) is torch.Tensor}) < sum(
                type(v) is torch.Tensor for v in self.local.values()
            ):
                local = dict(self.local)
            local["depyf_not_there"] = i
            if not overlap(self.local):
                yield contextlib.nullcontext(Input(f"content {i}", local))
            else:
                yield contextlib.nullcontext(Input(f"content {i}", {**self.local, "depyf_not_there": i}))

    def states(self):
        def state(name, kind, change: Callable[[], contextlib.AbstractContextManager[Any]]):
            @contextlib.contextmanager
            def enter():
                with change():
                    yield Input(name, dict(self.local), (), kind)

            return enter()

        def switched(get, put, value):
            @contextlib.contextmanager
            def enter():
                before = get()
                put(value)
                try:
                    yield
                finally:
                    put(before)

            return enter

        matmul = torch.backends.cuda.matmul
        yield state("grad", "GLOBAL_STATE", lambda: torch.set_grad_enabled(not torch.is_grad_enabled()))
        yield state("inference", "GLOBAL_STATE", torch.inference_mode)
        yield state("autocast", "GLOBAL_STATE", lambda: torch.autocast("cpu"))
        yield state("autocast cache", "GLOBAL_STATE", lambda: torch.autocast("cpu", cache_enabled=False))
        yield state("dtype", "GLOBAL_STATE", switched(torch.get_default_dtype, torch.set_default_dtype, torch.float64))
        yield state("half", "GLOBAL_STATE", switched(torch.get_default_dtype, torch.set_default_dtype, torch.bfloat16))
        on = torch.are_deterministic_algorithms_enabled
        yield state("deterministic", "GLOBAL_STATE", switched(on, torch.use_deterministic_algorithms, True))
        warn = lambda value: torch.use_deterministic_algorithms(value, warn_only=value)  # noqa: E731
        yield state("warn only", "GLOBAL_STATE", switched(on, warn, True))
        threads = torch.get_num_threads
        yield state("threads", "GLOBAL_STATE", switched(threads, torch.set_num_threads, threads() + 1))
        for name in ("allow_tf32", "allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction"):
            put = lambda value, name=name: setattr(matmul, name, value)  # noqa: E731
            get = lambda name=name: getattr(matmul, name)  # noqa: E731
            yield state(name, "GLOBAL_STATE", switched(get, put, not get()))
        quiet = torch._C.DisableTorchFunctionSubclass
        yield state("torch function", "GLOBAL_STATE", quiet)
        yield state("no torch function", "GLOBAL_STATE", torch._C.DisableTorchFunction)
        yield state("mode", "TORCH_FUNCTION_MODE_STACK", NoMode)
        yield state("device mode", "TORCH_FUNCTION_MODE_STACK", lambda: torch.device("meta"))
        device = torch.utils._device
        put_device = lambda value: setattr(device, "CURRENT_DEVICE", value)  # noqa: E731
        yield state(
            "device", "DEFAULT_DEVICE", switched(lambda: device.CURRENT_DEVICE, put_device, torch.device("meta"))
        )
        # Hooks that Dynamo inlines into its graph, because they are graph modules.
        one, other = (torch.fx.symbolic_trace(torch.nn.Identity()) for _ in range(2))
        hooks = torch.autograd.graph.saved_tensors_hooks
        yield state("saved tensors", "LAMBDA_GUARD", lambda: hooks(one, other))
        yield state("other saved tensors", None, lambda: hooks(lambda x: x, lambda x: x))

    # Changes of one value

    def change(self, node, other) -> Callable[[], contextlib.AbstractContextManager[dict[str, Any]]] | None:
        """Returns a context manager that puts `other` in place of a node's value for a while; None if that is
        impossible."""
        step, parent = node.step, node.parent
        if step.kind == "FrameLocalsGuardAccessor":
            name = eval(step.argument)
            local = {k: v for k, v in self.local.items() if k != name}
            if other is not MISSING:
                local[name] = other
            return lambda: contextlib.nullcontext(local)
        try:
            holder = self.read(parent) if parent.step.kind != "GlobalsGuardAccessor" else self.scope
        except Exception:
            return None
        path = self.paths[id(node)] or ""
        if step.kind in ("DictGetItemGuardAccessor", "value") and isinstance(holder, dict):
            key = list(dict.keys(holder))[int(step.argument)] if step.kind == "value" else eval(step.argument)
            if holder is BUILTINS:  # the builtins are replaced by a changed copy, since this module needs them
                return self.change(parent, {k: v for k, v in {**holder, key: other}.items() if v is not MISSING})
            return lambda: self.in_dict(holder, key, other)
        if step.kind == "key" and isinstance(holder, dict):
            try:
                hash(other)
            except TypeError:
                return None
            return lambda: self.as_key(holder, int(step.argument), other)
        attribute = {"FuncDefaultsGuardAccessor": "__defaults__", "FuncKwDefaultsGuardAccessor": "__kwdefaults__"}
        attribute |= {"GradGuardAccessor": "grad", "CodeGuardAccessor": "__code__"}
        if step.kind in ("GetAttrGuardAccessor", "GenericGetAttrGuardAccessor") or step.kind in attribute:
            name = attribute.get(step.kind, step.argument)
            if isinstance(holder, tuple) and hasattr(holder, "_replace") and other is not MISSING:
                return self.change(parent, holder._replace(**{name: other}))
            # the code that finds attributes of torch.ops fails after a change
            if type(holder).__module__ == "torch._ops":
                return None
            if holder is torch and name in NEEDED:
                return None if parent.parent is None else self.change(parent, types.SimpleNamespace(**{name: other}))
            if isinstance(holder, slice) and other is not MISSING:
                parts = {part: getattr(holder, part) for part in ("start", "stop", "step")} | {name: other}
                return self.change(parent, slice(*parts.values()))
            if step.kind == "CodeGuardAccessor" and other is not MISSING and other == "depyf":
                other = holder.__code__.replace(co_name="depyf")
            return self.in_attribute(holder, name, other)
        if step.kind == "ListGetItemGuardAccessor" and isinstance(holder, list) and other is not MISSING:
            return lambda: self.in_list(holder, int(step.argument), other)
        if isinstance(holder, tuple) and path.endswith("]") and other is not MISSING:
            index = eval(path[path.rindex("[") + 1 : -1])
            items = [*holder[:index], other, *holder[index + 1 :]]
            return self.change(parent, type(holder)(*items) if hasattr(holder, "_fields") else tuple(items))
        if isinstance(holder, types.MappingProxyType) and other is not MISSING and step.kind == "GetItemGuardAccessor":
            return self.change(parent, types.MappingProxyType({**holder, step.argument: other}))
        if step.kind == "TupleIteratorGetItemAccessor" and other is not MISSING:
            items = list(copy.copy(holder))
            items[int(step.argument)] = other
            return self.change(parent, iter(tuple(items)))
        return None

    @contextlib.contextmanager
    def in_dict(self, holder, key, other):
        before, order = dict.__getitem__(holder, key), list(dict.items(holder))
        if other is MISSING:
            dict.__delitem__(holder, key)
        else:
            dict.__setitem__(holder, key, other)
        try:
            yield self.local
        finally:
            dict.__setitem__(holder, key, before)
            if other is MISSING and holder is not self.scope:  # restores the order of the dict's items
                dict.clear(holder)
                for k, v in order:
                    dict.__setitem__(holder, k, v)

    @contextlib.contextmanager
    def as_key(self, holder, index, other):
        items = list(dict.items(holder))
        changed = [*items[:index], *items[index + 1 :]] if other is MISSING else list(items)
        if other is not MISSING:
            changed[index] = (other, items[index][1])
        for content in (changed, items):
            dict.clear(holder)
            for k, v in content:
                dict.__setitem__(holder, k, v)
            if content is changed:
                try:
                    yield self.local
                except BaseException:
                    dict.clear(holder)
                    dict.update(holder, items)
                    raise

    @contextlib.contextmanager
    def in_list(self, holder, index, other):
        before = holder[index]
        holder[index] = other
        try:
            yield self.local
        finally:
            holder[index] = before

    def in_attribute(self, holder, name, other):
        own = name in getattr(holder, "__dict__", {}) if not isinstance(holder, type) else name in vars(holder)
        try:
            before = getattr(holder, name)
            # This assignment raises an exception if the attribute cannot be set, so no value is changed that cannot be
            # restored.
            setattr(holder, name, before)
            if other is MISSING:
                delattr(holder, name)
            else:
                setattr(holder, name, other)
            setattr(holder, name, before)
            if not own and name in getattr(holder, "__dict__", {}):
                delattr(holder, name)
        except Exception:
            return None

        @contextlib.contextmanager
        def enter():
            if other is MISSING:
                delattr(holder, name)
            else:
                setattr(holder, name, other)
            try:
                yield self.local
            finally:
                setattr(holder, name, before)
                if not own and name in getattr(holder, "__dict__", {}):
                    with contextlib.suppress(Exception):
                        delattr(holder, name)

        return enter


def step_of_local(node) -> bool:
    return node.step.kind == "FrameLocalsGuardAccessor"


@contextlib.contextmanager
def together(one, other):
    with one as first, other as second:
        yield Input(f"{first.name} and {second.name}", second.local, (), first.kind)


def overlap(local) -> bool:
    storages = [
        v.untyped_storage().data_ptr() for v in local.values() if type(v) is torch.Tensor and v.layout is torch.strided
    ]
    return len(storages) != len(set(storages))
