"""Inductor's scheduler: its operations, how they were fused, and why not.

Relied on: the loggers of the IR are called by a function of `torch._inductor.debug` that has the scheduler's nodes in a
local variable `nodes`; a node's `get_nodes`, `get_name`, `get_buffer_names`, `read_writes.reads`, and `node.origins`
(nodes of the graph after post-grad passes); the logger whose name ends in `__fusion`, whose messages for two nodes that
are not fused are objects with `name1`, `name2`, `reason` and `args`; `LoopBodyBlock.debug_str(name)`, the text of a
loop's body. What is missing is not told.
"""

from __future__ import annotations

import logging
import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from depyf.compat import intercept, trace

# `; del x`, which the text of a loop's body leaves out.
_AFTER_STATEMENT = re.compile(r";[^\n]*")


@dataclass(frozen=True)
class Operation:
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


def operations() -> list[list[Operation]]:
    """The operations that the scheduler has now, those that are fused together.

    To be called while the IR is logged.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch._inductor.debug":
            nodes = frame.f_locals.get("nodes")
            if isinstance(nodes, list):
                return [[_operation(one) for one in node.get_nodes()] for node in nodes]
        frame = frame.f_back
    return []


def _operation(node: Any) -> Operation:
    ir = getattr(node, "node", None)
    kind = type(node).__name__
    name = "library call" if "Extern" in kind else "nothing" if "Nop" in kind else "loops"
    return Operation(
        str(node.get_name()),
        name,
        tuple(str(one) for one in node.get_buffer_names()),
        tuple(dict.fromkeys(str(one.name) for one in getattr(getattr(node, "read_writes", None), "reads", ()))),
        tuple(sorted(str(one.name) for one in getattr(ir, "origins", None) or () if one.op != "placeholder")),
        str(getattr(ir, "python_kernel_name", None) or getattr(ir, "op_overload", None) or "") if kind != name else "",
    )


def add_loop_text_hook() -> Callable[[], None]:
    """Has Inductor make the text of a loop's body from its graph, and no module, compiled, of it before.

    The text is the same: most of the time that the text of the IR takes goes into those modules. To be called when Inductor
    is loaded; nothing is done where it is not. Returns what takes it away.
    """

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            if len(args) == 2 and not kwargs:
                try:
                    code = args[0].graph.python_code(root_module="self").src.strip()
                    return _AFTER_STATEMENT.sub("", code.replace("def forward(", f"def {args[1]}("))
                except Exception:  # of another release
                    pass
            return original(*args, **kwargs)

        return call

    block = getattr(sys.modules.get("torch._inductor.loop_body"), "LoopBodyBlock", None)
    return intercept.around(getattr(block, "debug_str", None), answer)


def add_fusion_handler(receive: Callable[[str, str, str], None]) -> Callable[[], None]:
    """Has `receive(name, name, reason)` called for each two nodes that Inductor does not fuse, if it is loaded.

    Returns what takes it away again.
    """

    def on_record(record: logging.LogRecord) -> None:
        one: Any = record.msg
        if hasattr(one, "name1") and hasattr(one, "reason"):
            receive(str(one.name1), str(one.name2), str(one.reason) % tuple(one.args) if one.args else str(one.reason))

    undo = [
        trace.listen(logging.getLogger(name), on_record)
        for name in list(logging.root.manager.loggerDict)
        if name.startswith("torch._inductor.") and name.endswith("__fusion")
    ]

    def remove() -> None:
        for one in undo:
            one()

    return remove
