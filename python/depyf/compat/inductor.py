"""Reads Inductor's scheduler: its operations, which of them were fused, and why the others were not fused.

PyTorch's function that logs the IR has the scheduler's nodes in a local variable. The `origins` of a scheduler node are
nodes of the FX graph after the post-grad passes. For each pair of nodes that may be fused, Inductor creates a
`WhyNoFuse` object, and calls it with the reason if the nodes are not fused.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple

from depyf.compat import intercept, private
from depyf.compat.private import guarded


class Operation(NamedTuple):
    """One node of Inductor's IR."""

    name: str
    """The name of the operation, such as `op6`."""
    kind: str
    """The kind of the operation: "loops" (the operation becomes a part of a kernel), "library call", or "nothing" (the
    operation computes nothing)."""
    writes: tuple[str, ...]
    reads: tuple[str, ...]
    """The names of the buffers that the operation reads."""
    origins: tuple[str, ...]
    """The operation was made from nodes of the graph after the post-grad passes; this field contains the names of these
    nodes."""
    call: str = ""
    """For a library call: the function that is called."""


def elsewhere() -> bool:
    """True if Inductor compiles in another process, from which this process receives only log records."""
    mode = private.get("torch._inductor.compile_fx:fx_compile_mode")
    return getattr(mode, "name", "NORMAL") == "SUBPROCESS"


def is_compile_worker() -> bool:
    """True if this process compiles kernels for another process, and runs nothing of the program."""
    script = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    return script.endswith(os.path.join("torch", "_inductor", "compile_worker", "__main__.py"))


@guarded(list)
def scheduled_nodes() -> list[Any]:
    """Returns the current nodes of Inductor's scheduler, in the form that the function `operations` accepts; an empty
    list if the nodes are not found.

    This function must be called while Inductor logs its IR.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch._inductor.debug":
            nodes = frame.f_locals.get("nodes")
            if isinstance(nodes, list):
                return nodes
        frame = frame.f_back
    private.not_found("torch._inductor.debug:nodes")
    return []


@guarded(list)
def operations(nodes: list[Any]) -> list[list[Operation]]:
    """Returns the operations of nodes of Inductor's scheduler: one list for each node, with the operations that are
    fused in it."""
    return [[_operation(member) for member in node.get_nodes()] for node in nodes]


def _operation(node: Any) -> Operation:
    ir = getattr(node, "node", None)
    kind = type(node).__name__
    kind = "library call" if "Extern" in kind else "nothing" if "Nop" in kind else "loops"
    reads = getattr(getattr(node, "read_writes", None), "reads", ())
    origins = [origin.name for origin in getattr(ir, "origins", None) or () if origin.op != "placeholder"]
    call = ""
    if kind == "library call":
        call = str(getattr(ir, "python_kernel_name", None) or getattr(ir, "op_overload", None) or "")
    return Operation(
        str(node.get_name()),
        kind,
        tuple(map(str, node.get_buffer_names())),
        tuple(dict.fromkeys([str(read.name) for read in reads])),
        tuple(sorted(map(str, origins))),
        call,
    )


def add_fusion_hook(receive: Callable[[str, str, str], None]) -> Callable[[], None]:
    """Calls `receive(first name, second name, reason)` for each pair of nodes that Inductor does not fuse, if Inductor
    is loaded.

    The reasons are not taken from Inductor's logger, because enabling the logger would make Inductor format a text for
    each reason. Returns a function that removes the callback `receive`.
    """

    @guarded()
    def tell(record: Any) -> None:
        if hasattr(record, "name1"):
            receive(
                str(record.name1),
                str(record.name2),
                str(record.reason) % tuple(record.args) if record.args else str(record.reason),
            )

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            result = original(*args, **kwargs)
            tell(args[0])
            return result

        return call

    return intercept.around(private.get("torch._inductor.scheduler:WhyNoFuse.__call__"), answer)


def cache_folder() -> str | None:
    """Returns the directory in which Inductor stores compiled graphs; None if this process has not loaded Inductor."""
    folder = private.call("torch._inductor.runtime.runtime_utils:cache_dir")
    return os.path.join(folder, "fxgraph") if isinstance(folder, str) else None
