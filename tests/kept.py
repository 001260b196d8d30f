"""Finds the objects that are still alive after a program has dropped them, with depyf and with PyTorch alone."""

from __future__ import annotations

import contextlib
import gc
import itertools
import weakref

import torch._dynamo
from torch._dynamo import convert_frame
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

import torch

CHECKPOINTS = ("dropped", "collected", "reset", "collected after the reset")
_SOURCE = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)
        self.scale = torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        y = self.inner(x) * self.scale
        torch._dynamo.graph_break()
        return torch.relu(y) + 1
"""
_counter = itertools.count()


def new_net(breaks=True):
    """Returns a module whose class and code are referred to by nothing else.

    Args:
        breaks: True for a module with a graph break, whose code PyTorch itself never frees, because a resume function
        needs it.
    """
    namespace = {"torch": torch, "__name__": __name__}
    source = _SOURCE if breaks else _SOURCE.replace("torch._dynamo.graph_break()", "pass")
    exec(compile(source, f"<net {next(_counter)}>", "exec"), namespace)
    net = namespace.pop("Net")()
    return net


class Watch:
    """Weak references to the objects that a program creates, by role."""

    def __init__(self):
        self._references = {}

    def add(self, role, thing):
        self._references.setdefault(role, []).append(weakref.ref(thing))

    def alive(self):
        """Returns the number of objects that are alive, by role."""
        found = ((role, sum(r() is not None for r in references)) for role, references in self._references.items())
        return {role: count for role, count in found if count}


@contextlib.contextmanager
def _graphs_watched(watch):
    """Adds each graph module that is created to `watch`. A module's role consists of the names of its nodes, because
    the number of graph modules differs between runs."""
    original = torch.fx.GraphModule.__init__

    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        watch.add(("graph", tuple(node.name for node in self.graph.nodes)), self)

    torch.fx.GraphModule.__init__ = init
    try:
        yield
    finally:
        torch.fx.GraphModule.__init__ = original


def states(backend, use, block):
    """Returns the objects that are alive at each of the checkpoints, and after the block.

    Args:
        backend: the backend of torch.compile.
        use: a function of the module, its compiled form and an input, which performs the tested operation.
        block: a context manager that is open until the program's objects are dropped.
    """
    watch, found = Watch(), []

    def on_bytecode(original, transformed):
        watch.add("original code", original)
        watch.add("transformed code", transformed)

    def program():
        net = new_net()
        compiled = torch.compile(net, backend=backend)
        x = torch.ones(2, 4)
        out = compiled(x).sum()
        out.backward()
        for role, thing in (("module", net), ("inner module", net.inner), ("input", x), ("output", out)):
            watch.add(role, thing)
        for role, thing in (("parameter", net.inner.weight), ("parameter", net.scale), ("class", type(net))):
            watch.add(role, thing)
        watch.add("function", type(net).forward)
        watch.add("code", type(net).forward.__code__)
        for entry in _debug_get_cache_entry_list(type(net).forward.__code__):
            watch.add("guards", entry.guard_manager)
        del out, entry, thing
        use(net, compiled, x)

    gc.collect()
    hook = convert_frame.register_bytecode_hook(on_bytecode)
    try:
        with _graphs_watched(watch):
            with block:
                gc.disable()  # with automatic collection, the objects that are alive at the end would depend on chance
                try:
                    program()
                    found.append(watch.alive())
                finally:
                    gc.enable()
                gc.collect()
                found.append(watch.alive())
                torch._dynamo.reset()
                found.append(watch.alive())
                gc.collect()
                found.append(watch.alive())
            found.append(watch.alive())
    finally:
        hook.remove()
        torch._dynamo.reset()
    return found


def kept_longer(found, plain):
    """Returns, for each checkpoint, the roles of which more objects are alive than with PyTorch alone."""
    more = [
        sorted(str(role) for role, count in now.items() if count > then.get(role, 0)) for now, then in zip(found, plain)
    ]
    return dict(zip((*CHECKPOINTS, "after the block"), more))
