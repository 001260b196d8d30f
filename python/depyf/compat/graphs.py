"""Graphs on their way through the backends: which direction is compiled, and graphs shown under a name.

Relied on: `torch._functorch._aot_autograd.logging_utils.graph_being_compiled`;
`torch._dynamo.utils.lazy_format_graph_code`, which Dynamo calls with a graph and the name of its compiled function, and
other libraries with names of their own. PyTorch has no hook for it, and callers import it by name: so its code object
is replaced, and put back.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from depyf.compat.dynamo import not_compiled

NamedGraph = Callable[[str, Any, str], None]

_receive: NamedGraph | None = None
_original: Callable[..., Any] | None = None
_pass_on: Callable[..., Any] | None = None


def direction() -> str | None:
    """What AOTAutograd compiles at the moment: "forward" (inference too), "backward", "joint", or None."""
    try:
        from torch._functorch._aot_autograd import logging_utils
    except ImportError:
        return None
    names = getattr(logging_utils, "graph_being_compiled", None)
    if not isinstance(names, list) or not names or not isinstance(names[-1], str):
        return None
    kind = names[-1].rpartition("_")[2]
    return "forward" if kind == "inference" else kind


def add_named_graph_hook(receive: NamedGraph) -> Callable[[], None]:
    """Has `receive(name, graph_module, caller's module name)` called. Returns what takes it away. One at a time."""
    global _receive, _original, _pass_on
    function = _formatter()
    if function is None:
        return lambda: None
    original = function.__code__
    # The same function, with the same behaviour, under a second object.
    copy = types.FunctionType(
        original, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    _original, _receive, _pass_on = copy, receive, not_compiled(_tell_and_call)
    # Under the name of torch's own file, which Dynamo does not look into.
    replacement = _template.__code__.replace(co_name=original.co_name, co_filename=original.co_filename)
    function.__code__ = replacement

    def remove() -> None:
        global _receive
        if function.__code__ is replacement:  # nobody else has replaced it since
            function.__code__ = original
        _receive = None

    return remove


def _formatter() -> types.FunctionType | None:
    try:
        from torch._dynamo.utils import lazy_format_graph_code
    except ImportError:
        return None
    if not isinstance(lazy_format_graph_code, types.FunctionType) or lazy_format_graph_code.__code__.co_freevars:
        return None
    return lazy_format_graph_code


# Runs with torch's globals, so that it has to import what it needs.
def _template(*args, **kwargs):  # type: ignore[no-untyped-def]
    import sys

    return sys.modules["depyf.compat.graphs"]._pass_on(args, kwargs, sys._getframe(1).f_globals.get("__name__"))


def _tell_and_call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: object) -> Any:
    receive = _receive
    if receive is not None:
        name = args[0] if args else kwargs.get("name")
        graph = args[1] if len(args) > 1 else kwargs.get("gm")
        if type(name) is str and graph is not None:
            receive(name, graph, str(caller))
    assert _original is not None  # set before the code that leads here
    return _original(*args, **kwargs)
