"""Inductor's scheduler: its operations, how they were fused, and why not.

The loggers of the IR are called by a function that has the scheduler's nodes in a local variable; a node's `origins` are
nodes of the graph after post-grad passes; an object is made for each two nodes that may be fused, and called with the reason
why they are not.
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
    """`op6`."""
    kind: str
    """"loops" (made into a kernel), "library call" or "nothing" (it computes nothing)."""
    writes: tuple[str, ...]
    reads: tuple[str, ...]
    """Buffers."""
    origins: tuple[str, ...]
    """Nodes of the graph after post-grad passes."""
    call: str = ""
    """Of a library call: what is called."""


def elsewhere() -> bool:
    """True if Inductor compiles in another process. What it does there is known here only as far as it is logged."""
    mode = private.get("torch._inductor.compile_fx:fx_compile_mode")
    return getattr(mode, "name", "NORMAL") == "SUBPROCESS"


@guarded(list)
def operations() -> list[list[Operation]]:
    """Returns the operations that the scheduler has now, those that are fused together.

    Is to be called while the IR is logged.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch._inductor.debug":
            nodes = frame.f_locals.get("nodes")
            if isinstance(nodes, list):
                return [[_operation(member) for member in node.get_nodes()] for node in nodes]
        frame = frame.f_back
    private.not_found("torch._inductor.debug:nodes")
    return []


def _operation(node: Any) -> Operation:
    ir = getattr(node, "node", None)
    kind = type(node).__name__
    name = "library call" if "Extern" in kind else "nothing" if "Nop" in kind else "loops"
    return Operation(
        str(node.get_name()),
        name,
        tuple([str(buffer) for buffer in node.get_buffer_names()]),
        tuple(dict.fromkeys([str(read.name) for read in getattr(getattr(node, "read_writes", None), "reads", ())])),
        tuple(
            sorted([str(origin.name) for origin in getattr(ir, "origins", None) or () if origin.op != "placeholder"])
        ),
        str(getattr(ir, "python_kernel_name", None) or getattr(ir, "op_overload", None) or "") if kind != name else "",
    )


def add_fusion_hook(receive: Callable[[str, str, str], None]) -> Callable[[], None]:
    """Calls `receive(name, name, reason)` for each two nodes that Inductor does not fuse, if Inductor is loaded.

    Inductor makes texts for its logger that nobody reads here, so that is not switched on. Returns what takes the hook
    away again.
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
    """Returns the folder in which Inductor keeps compiled graphs; None if this process has not loaded Inductor."""
    folder = private.call("torch._inductor.runtime.runtime_utils:cache_dir")
    return os.path.join(folder, "fxgraph") if isinstance(folder, str) else None
