"""The graphs that backends compile: the direction (forward or backward) that is being compiled, the graphs that PyTorch
logs under a name, and the output code.

Dynamo calls `lazy_format_graph_code` with a graph and the name of its compiled function; other libraries call this
function with names of their own. A graph module runs the `forward` of its class, which its method `recompile` compiles
from the text in its attribute `code`.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from depyf.compat import intercept, private
from depyf.compat.private import guarded

NamedGraph = Callable[[str, Any, str], None]


def direction() -> str | None:
    """Returns the kind of graph that AOTAutograd is compiling in this thread: "forward" (also for inference),
    "backward" or "joint"; None outside of AOTAutograd."""
    context = private.call("torch._guards:TracingContext.try_get")
    names: Any = private.ABSENT
    if context is not None:
        names = private.of(context, "torch._guards:TracingContext.aot_graph_name", private.ABSENT)
    if names is private.ABSENT:  # `graph_being_compiled` covers all threads; its last item is the newest.
        names = private.get("torch._functorch._aot_autograd.logging_utils:graph_being_compiled")
    if not names or not isinstance(names[-1], str):
        return None
    kind = names[-1].rpartition("_")[2]
    return "forward" if kind == "inference" else kind


def add_named_graph_hook(receive: NamedGraph) -> Callable[[], None]:
    """Calls `receive(name, graph_module, caller's module name)` for each graph that PyTorch passes to its logging
    function `lazy_format_graph_code`, until the returned function is called."""

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            name = args[0] if args else kwargs.get("name")
            graph = args[1] if len(args) > 1 else kwargs.get("gm")
            if type(name) is str and is_graph_module(graph):
                receive(name, graph, caller)
            return original(*args, **kwargs)

        return call

    return intercept.around(private.get("torch._dynamo.utils:lazy_format_graph_code"), answer)


def is_graph_module(value: object) -> bool:
    """True if a value is an FX graph module."""
    from torch.fx import GraphModule

    return isinstance(value, GraphModule)


_module_hooks: list[Callable[[str, types.ModuleType], None]] = []
"""The functions that are called with each loaded module of output code. The list needs no lock, as each addition and
removal is one operation. The list is cleared receiver by receiver, by the functions that `add_module_hook`
returns; a forked child continues with its copy of the list."""
_module_interception: list[Callable[[], None]] = []
"""Contains at most one function, which ends the interception of PyTorch's loader of output code. The list is cleared
when the last receiver is removed. The list needs no lock, as each addition and removal is one operation. A forked child
continues with its copy of the list, because the calls of PyTorch's loader are also intercepted in the child."""


def add_module_hook(receive: Callable[[str, types.ModuleType], None]) -> Callable[[], None]:
    """Calls `receive(path, module)` with each module of output code that Inductor loads, until the returned function is
    called.

    This function must be called after Inductor has been loaded; an earlier call has no effect.
    """
    _module_hooks.append(receive)
    if not _module_interception:
        load = private.get("torch._inductor.codecache:PyCodeCache.load_by_key_path")
        _module_interception.append(intercept.around(getattr(load, "__func__", None), _tell_module_hooks))

    def remove() -> None:
        if receive in _module_hooks:
            _module_hooks.remove(receive)
        while not _module_hooks and _module_interception:
            _module_interception.pop()()

    return remove


def _tell_module_hooks(original: Callable[..., Any]) -> intercept.Call:
    def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
        module = original(*args, **kwargs)
        path = args[2] if len(args) > 2 else kwargs.get("path")
        if type(path) is str and isinstance(module, types.ModuleType):
            for receive in list(_module_hooks):
                receive(path, module)
        return module

    return call


def loaded_module(path: str) -> types.ModuleType | None:
    """Returns the module that Inductor loaded last from the file of output code at `path`; None if Inductor has not
    loaded the file. Output code from a cache is loaded before PyTorch's trace reports it."""
    modules = private.get("torch._inductor.codecache:PyCodeCache.modules") or []
    return next((module for module in reversed(modules) if getattr(module, "__file__", None) == path), None)


def add_recompile_hook(receive: Callable[[Any], None]) -> Callable[[], None]:
    """Calls `receive(graph module)` whenever PyTorch has recompiled the function of a graph module, until the returned
    function is called."""

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            result = original(*args, **kwargs)
            if args:
                receive(args[0])
            return result

        return call

    return intercept.around(private.get("torch.fx:GraphModule.recompile"), answer)


@guarded(True)
def computes(module: Any) -> bool:
    """True if the graph of a module calls any function. Inductor does not compile a graph without calls, and returns
    the graph unchanged."""
    return any(node.op.startswith("call") for node in module.graph.nodes)


@guarded(0)
def size(module: Any) -> int:
    """Returns the number of nodes of a module's graph."""
    return len(module.graph.nodes)


@guarded(())
def node_names(module: Any) -> tuple[str, ...]:
    return tuple(node.name for node in module.graph.nodes)


@guarded(str)
def source(module: Any) -> str:
    """Returns the text that a graph module's function was compiled from."""
    return str(module.code)


@guarded(str)
def text(module: Any) -> str:
    """Returns the text that PyTorch prints for a graph module, with strides and devices from PyTorch 2.5 on; "" if the
    module cannot be printed."""
    try:
        return str(module.print_readable(print_output=False, include_stride=True, include_device=True))
    except TypeError:
        return str(module.print_readable(print_output=False))


@guarded()
def forward_of(module: Any) -> types.FunctionType | None:
    """Returns the function that a graph module runs; None if the class of the module has no such function. If PyTorch
    would compile the function of the graph module only at the function's first call, the function is compiled at
    once."""
    make = getattr(module, "real_recompile", None)
    if make is not None:
        make()  # The call does nothing if the function has already been made.
    forward = getattr(type(module), "forward", None)
    return forward if isinstance(forward, types.FunctionType) else None


@guarded(False)
def is_made_later(module: Any) -> bool:
    """True if PyTorch compiles the function of a graph module only when the function is first called or read, and has
    not compiled it yet."""
    return getattr(getattr(type(module), "forward", None), "__name__", "") == "_lazy_forward"


@guarded(list)
def submodules(module: Any) -> list[Any]:
    """Returns the child modules of a graph module that are graph modules, in the order in which PyTorch prints them."""
    return [child for _, child in module.named_children() if hasattr(child, "print_readable")]
