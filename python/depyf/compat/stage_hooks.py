"""Reports the graphs and callables of a compilation, stage by stage, while PyTorch compiles.

The hooks that the function `install` sets cannot be removed, so `install` is only for a process that measures and then
ends. Inductor's stages are functions of `compile_fx`, each pass runs in a `GraphTransformObserver`, and `GraphLowering`
knows which node's value each buffer of the output code holds.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Protocol

from depyf.compat import graphs, intercept, private
from depyf.compat.private import guarded

_FX = "torch._inductor.compile_fx"
_OBSERVER = "torch.fx.passes.graph_transform_observer:GraphTransformObserver"
_OF_STAGES = {
    "pre-grad": f"{_FX}:_recursive_pre_grad_passes",
    "joint": f"{_FX}:_recursive_joint_graph_passes",
    "post-grad": f"{_FX}:_recursive_post_grad_passes",
}


_HOOKED = (
    f"{_OBSERVER}.__exit__",
    "torch._dynamo.backends.debugging:boxed_nop",
    "torch._inductor.graph:GraphLowering.codegen",
    "torch._inductor.codecache:PyCodeCache.load_by_key_path",
)


class Receiver(Protocol):
    """Receives the stages of a compilation. The methods of a receiver are called in the compiling thread."""

    def begin_passes(self, stage: str, module: Any) -> None:
        """Receives a graph before the passes "pre-grad", "joint" or "post-grad"."""

    def end_passes(self, stage: str, module: Any) -> None:
        """Receives the graph that the passes "pre-grad", "joint" or "post-grad" returned or changed in place."""

    def shown(self, name: str, module: Any, caller: str) -> None:
        """Receives a graph that PyTorch passes to its logging function `lazy_format_graph_code`, and the name under
        which PyTorch logs the graph."""

    def end_pass(self, name: str, module: Any) -> None:
        """Receives a graph at the end of one graph pass; `name` is the name of the pass."""

    def begin_backend(self, module: Any, is_backward: bool) -> None:
        """Receives the graph that AOTAutograd passes to its compiler."""

    def end_backend(self, module: Any, call: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
        """Receives the callable to which the graph was compiled, and returns the callable that shall run instead."""

    def loaded(self, path: str, module: types.ModuleType) -> None:
        """Receives output code when it is loaded."""

    def lowered(self, nodes_of_buffers: dict[str, str]) -> None:
        """Receives a dict from the name of each buffer of output code to the name of the node whose value the buffer
        contains."""


def install(receiver: Receiver) -> None:
    """Reports the stages of all further compilations of this process to `receiver`."""
    for stage, path in _OF_STAGES.items():
        _around(path, _of_stage(receiver, stage))
    graphs.add_named_graph_hook(receiver.shown)
    _around(f"{_OBSERVER}.__exit__", _of_pass(receiver))
    _around(f"{_FX}:compile_fx_inner", _of_inductor(receiver))
    _around("torch._dynamo.backends.debugging:boxed_nop", _of_nop(receiver))
    _around("torch._inductor.graph:GraphLowering.codegen", _of_lowering(receiver))
    graphs.add_module_hook(receiver.loaded)


def _around(path: str, answer: Callable[[Callable[..., Any]], intercept.Call]) -> None:
    """Makes the function that `answer` returns receive the calls of PyTorch's function with the path `path`, even if
    other code has replaced PyTorch's function."""
    function = private.get(path)
    plain = getattr(function, "__func__", function)
    if isinstance(plain, types.FunctionType) and not plain.__code__.co_freevars:
        intercept.around(plain, answer)
        return
    owner: Any = private.module_of(path)
    if owner is None or not callable(function):
        return
    *way, name = path.partition(":")[2].split(".")
    for part in way:
        owner = getattr(owner, part)
    call = answer(function)

    def replacement(*args: Any, **kwargs: Any) -> Any:
        return call(args, kwargs, "")

    is_bound = isinstance(owner, type) and hasattr(function, "__self__")
    setattr(owner, name, staticmethod(replacement) if is_bound else replacement)


_SETTINGS = {
    "torch._inductor.config:fx_graph_cache": False,
    "torch._inductor.config:compile_threads": 1,
    "torch._inductor.config:fallback_random": True,
    "torch._functorch.config:enable_autograd_cache": False,
    "torch._functorch.config:force_non_lazy_backward_lowering": True,
    "torch._dynamo.config:recompile_limit": 1000,
    "torch._dynamo.config:accumulated_recompile_limit": 10000,
}
"""The settings of a process that only measures: no stage is skipped because of a cache, a function may be compiled many
times, and random numbers come from PyTorch's own generators."""


@guarded()
def prepare() -> None:
    """Imports the modules whose functions `install` hooks, and changes PyTorch's settings for this process."""
    for path in (*_OF_STAGES.values(), *_HOOKED):
        __import__(path.partition(":")[0])
    for path, value in _SETTINGS.items():
        module = private.module_of(path)
        if module is not None:
            setattr(module, path.partition(":")[2], value)


def _of_stage(receiver: Receiver, stage: str) -> Callable[[Callable[..., Any]], intercept.Call]:
    depth = 0

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            nonlocal depth
            module = args[0] if args else kwargs.get("gm")
            is_outermost = depth == 0
            depth += 1
            try:
                if is_outermost:
                    receiver.begin_passes(stage, module)
                result = original(*args, **kwargs)
            finally:
                depth -= 1
            if is_outermost:
                receiver.end_passes(stage, result if graphs.is_graph_module(result) else module)
            return result

        return call

    return answer


def _of_pass(receiver: Receiver) -> Callable[[Callable[..., Any]], intercept.Call]:
    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            result = original(*args, **kwargs)
            observer = args[0]
            module = getattr(observer, "gm", None)
            if graphs.is_graph_module(module) and args[1:2] in ((), (None,)):
                receiver.end_pass(str(getattr(observer, "passname", "")), module)
            return result

        return call

    return answer


def _of_inductor(receiver: Receiver) -> Callable[[Callable[..., Any]], intercept.Call]:
    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            module = args[0] if args else kwargs.get("gm")
            receiver.begin_backend(module, bool(kwargs.get("is_backward")))
            result = original(*args, **kwargs)
            callable_of_graph = getattr(result, "current_callable", None)
            if callable_of_graph is not None:
                result.current_callable = receiver.end_backend(module, callable_of_graph)
                return result
            replacement = receiver.end_backend(module, result)
            replacement._boxed_call = True  # type: ignore[attr-defined]
            return replacement

        return call

    return answer


def _of_nop(receiver: Receiver) -> Callable[[Callable[..., Any]], intercept.Call]:
    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            module = args[0] if args else kwargs.get("fx_g")
            receiver.begin_backend(module, graphs.direction() == "backward")
            replacement = receiver.end_backend(module, original(*args, **kwargs))
            replacement._boxed_call = True  # type: ignore[attr-defined]
            return replacement

        return call

    return answer


def _of_lowering(receiver: Receiver) -> Callable[[Callable[..., Any]], intercept.Call]:
    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            result = original(*args, **kwargs)
            receiver.lowered(_nodes_of_buffers(args[0]))
            return result

        return call

    return answer


@guarded(dict)
def _nodes_of_buffers(lowering: Any) -> dict[str, str]:
    nodes = {}
    for buffer in [*lowering.buffers, *lowering.operations]:
        origin = buffer.get_origin_node()
        if origin is not None:
            nodes[str(buffer.get_name())] = str(origin.name)
    return nodes


def backend_of(compiled: Any) -> Any:
    """Returns the backend of a result of `torch.compile`; None if the backend is unknown."""
    candidates = [getattr(compiled, "dynamo_ctx", None)]
    for cell in getattr(compiled, "__closure__", None) or ():
        try:
            candidates.append(cell.cell_contents)
        except ValueError:
            continue
    for candidate in candidates:
        callback = getattr(candidate, "callback", None)
        backend = callback if callable(callback) else None
        for _ in range(8):
            inner = getattr(backend, "_torchdynamo_orig_backend", None)
            if inner is None or inner is backend:
                break
            backend = inner
        if backend is not None and backend is not callback:
            return backend
    return None


@guarded()
def compile_single(module: Any, inputs: list[Any]) -> Callable[[list[Any]], Any] | None:
    """Compiles a single graph of ATen operators with Inductor, and returns its callable; None if Inductor's functions
    are missing."""
    import torch

    make_mode = private.get("torch._subclasses.fake_tensor:FakeTensorMode")
    compile_graph = private.get(f"{_FX}:compile_fx_inner")
    if make_mode is None or compile_graph is None:
        return None
    with make_mode(allow_non_fake_inputs=True) as mode:
        fake = [mode.from_tensor(value) if isinstance(value, torch.Tensor) else value for value in inputs]
    compiled: Callable[[list[Any]], Any] = compile_graph(module, fake, is_inference=True, cudagraphs=None)
    return compiled


def inductor() -> Callable[[Any, list[Any]], Callable[..., Any]]:
    """Returns the backend named "inductor"."""
    backend: Callable[[Any, list[Any]], Callable[..., Any]] = private.call("torch._dynamo:lookup_backend", "inductor")
    return backend
