"""Inductor's scheduler: its operations, how they were fused, and why not.

The loggers of the IR are called by a function that has the scheduler's nodes in a local variable; a node's `origins` are
nodes of the graph after post-grad passes; the messages of the logger `__fusion` for two nodes that are not fused are
objects.
"""

from __future__ import annotations

import logging
import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from depyf.compat import intercept, private, trace
from depyf.compat.private import guarded

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


@guarded(list)
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


class _Texts:
    """Texts of parts of the IR, kept from before fusion until after it: most parts are then still the same."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, str]] = {}

    def get(self, key: Any, content: Any, make: Callable[[], str]) -> str:
        """The text of what had this content under this key."""
        found = self._known.get(key)
        if found is not None and found[0] == content:
            return found[1]
        text = make()
        self._known[key] = content, text
        return text

    def forget(self) -> None:
        self._known.clear()


_texts = _Texts()


def forget_texts() -> None:
    """To be called when the IR was told for the last time."""
    _texts.forget()


def add_text_hooks() -> Callable[[], None]:
    """Has Inductor make the text of its IR in less time: the same text.

    Of a loop's body it makes the text from its graph, and no module, compiled, of it before; this, and what lists reads
    and writes, is made once for the IR before and after fusion. To be called when Inductor is loaded; nothing is done
    where it is not. Returns what takes it away.
    """

    def loop(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            try:
                block, name = args
                graph = block.graph
                content = [(one.op, one.name, one.target, one.args, one.kwargs) for one in graph.nodes]
                return _texts.get(("loop", graph, name), content, lambda: _loop(graph, name))
            except Exception:  # of another release
                return original(*args, **kwargs)

        return call

    def listed(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            make = lambda: original(*args, **kwargs)  # noqa: E731
            # Dependencies never change; a layout does.
            try:
                dependencies = tuple(args[0]) if type(args[0]).__name__ == "OrderedSet" else (None,)
                hash(dependencies)
                known = not kwargs and all(isinstance(one, dependency) for one in dependencies)
            except Exception:  # of another release
                known = False
            return _texts.get(("listed", dependencies), None, make) if known else make()

        return call

    dependency = private.get("torch._inductor.dependencies:Dep") or ()
    undo = [
        intercept.around(private.get("torch._inductor.loop_body:LoopBodyBlock.debug_str"), loop),
        intercept.around(private.get("torch._inductor.scheduler:pformat"), listed),
        forget_texts,
    ]

    def remove() -> None:
        for one in undo:
            one()

    return remove


def _loop(graph: Any, name: str) -> str:
    code = graph.python_code(root_module="self").src.strip()
    return _AFTER_STATEMENT.sub("", code.replace("def forward(", f"def {name}("))


def add_fusion_handler(receive: Callable[[str, str, str], None]) -> Callable[[], None]:
    """Has `receive(name, name, reason)` called for each two nodes that Inductor does not fuse, if it is loaded.

    Returns what takes it away again.
    """

    @guarded()
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
