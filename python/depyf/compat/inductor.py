"""Inductor's scheduler: its operations, how they were fused, and why not.

The loggers of the IR are called by a function that has the scheduler's nodes in a local variable; a node's `origins` are
nodes of the graph after post-grad passes; an object is made for each two nodes that may be fused, and called with the reason
why they are not.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from operator import getitem
from typing import Any

from depyf.compat import intercept, private
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


def elsewhere() -> bool:
    """Does Inductor compile in another process? What it does there is heard here only as far as it is logged."""
    mode = private.get("torch._inductor.compile_fx:fx_compile_mode")
    return getattr(mode, "name", "NORMAL") == "SUBPROCESS"


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
    private.not_found("torch._inductor.debug:nodes")
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
    """What the text of the IR is made of, while a thread makes it: the same text in less time.

    Of a loop's body the text is made from its graph, and no module, compiled, of it before; this, and what lists reads and
    writes, is made once for the IR before and after fusion, as most parts are then still the same; the text of an
    expression of SymPy is made once too. An expression never changes. It is known by its identity: equal ones can have
    other texts (2 and 2.0).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Any, tuple[Any, str]] = {}
        self._expressions: dict[int, tuple[Any, str]] = {}
        self._thread: int | None = None
        self._original: Callable[[Any], str] = object.__str__
        self._parts: list[intercept.Interception] = []

    def add_parts(self) -> None:
        """Looks up the functions whose calls are answered."""
        self._dependency = private.get("torch._inductor.dependencies:Dep") or ()
        self._parts = [
            intercept.Interception(private.get("torch._inductor.loop_body:LoopBodyBlock.debug_str"), self._loop),
            intercept.Interception(private.get("torch._inductor.scheduler:pformat"), self._listed),
        ]

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Texts are kept in this block; where another thread is in one, this one does without."""
        function = private.get("sympy.core._print_helpers:Printable.__str__")
        if type(function) is not types.FunctionType or function.__closure__ or not self._lock.acquire(blocking=False):
            yield
            return
        code = function.__code__
        self._thread = threading.get_ident()
        self._original = types.FunctionType(code, function.__globals__)
        # Not the attribute: to set one of a class with so many subclasses takes as long as many texts.
        function.__code__ = _text_of_expression.__code__
        try:
            for part in self._parts:
                part.set(may_be_compiled=True)  # Dynamo looks at nothing that the text of the IR calls
            yield
        finally:
            function.__code__ = code
            for part in self._parts:
                part.take_away()
            self._lock.release()

    def get(self, key: Any, content: Any, make: Callable[[], str]) -> str:
        """The text of what had this content under this key."""
        if threading.get_ident() != self._thread:
            return make()
        found = self._known.get(key)
        if found is not None and found[0] == content:
            return found[1]
        text = make()
        self._known[key] = content, text
        return text

    def of_expression(self, expression: Any) -> str:
        """The text of an expression."""
        found = self._expressions.get(id(expression))
        if found is not None:
            return found[1]
        made = self._original(expression)
        if threading.get_ident() == self._thread:
            self._expressions[id(expression)] = expression, made
        return made

    def _loop(self, original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            try:
                block, name = args
                graph = block.graph
                content = [(one.op, one.name, one.target, one.args, one.kwargs) for one in graph.nodes]
                return self.get(("loop", graph, name), content, lambda: _loop(graph, name))
            except Exception:  # of another release
                return original(*args, **kwargs)

        return call

    def _listed(self, original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            # Dependencies never change; a layout does.
            if not kwargs and type(args[0]).__name__ == "OrderedSet":
                parts = tuple(args[0])
                if all(isinstance(one, self._dependency) for one in parts):
                    key = ("listed", *map(id, parts))
                    return self.get(key, parts, lambda: original(*args))
            return original(*args, **kwargs)

        return call

    def forget(self) -> None:
        self._known.clear()
        self._expressions.clear()


_texts = _Texts()


def forget_texts() -> None:
    """To be called when the IR was told for the last time."""
    _texts.forget()


def text_of(expression: Any) -> str:
    """The text of an expression."""
    return _texts.of_expression(expression)


def _text_of_expression(self: Any) -> str:
    # Runs with SymPy's globals.
    import sys

    return sys.modules["depyf.compat.inductor"].text_of(self)  # type: ignore[no-any-return]


def add_text_hooks() -> Callable[[], None]:
    """Has Inductor make the text of its IR in less time (see `_Texts`).

    To be called when Inductor is loaded; nothing is done where it is not. Returns what takes it away.
    """

    def whole(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            with _texts.kept():
                return original(*args, **kwargs)

        return call

    _texts.add_parts()
    take_away = intercept.around(private.get("torch._inductor.debug:DebugFormatter._write_ir"), whole)

    def remove() -> None:
        take_away()
        forget_texts()

    return remove


def _loop(graph: Any, name: str) -> str:
    """The text of a loop's body."""
    lines = [f"def {name}(self, ops):"]
    for node in graph.nodes:
        line = _loop_line(node)
        if line is None:
            code = graph.python_code(root_module="self").src.strip()
            return _AFTER_STATEMENT.sub("", code.replace("def forward(", f"def {name}("))
        lines += line
    return "\n".join(lines)


def _loop_line(node: Any) -> list[str] | None:
    """What PyTorch prints of one node, for the few kinds that nearly all bodies are made of; None for others."""
    arguments = [_loop_argument(one) for one in node.args]
    if node.kwargs or node.type is not None or None in arguments:
        return None
    listed = [str(one) for one in arguments]
    if node.op == "placeholder":
        return [] if node.target == "ops" and not listed else None
    if node.op == "call_module" and node.target.isidentifier():
        return [f"    {node.name} = self.{node.target}({', '.join(listed)})"]
    if node.op == "call_method" and listed:
        return [f"    {node.name} = {listed[0]}.{node.target}({', '.join(listed[1:])})"]
    if node.op == "call_function" and node.target is getitem and len(listed) == 2:
        return [f"    {node.name} = {listed[0]}[{listed[1]}]"]
    return [f"    return {listed[0]}"] if node.op == "output" and len(listed) == 1 else None


def _loop_argument(value: Any) -> str | None:
    kind = type(value)
    if kind is int or kind is bool or value is None:
        return repr(value)
    if kind is str:
        return repr(value) if ";" not in value else None
    if kind is float:
        return repr(value) if isfinite(value) else None
    if kind.__name__ == "Node":
        return str(value.name)
    return repr(value) if kind.__name__ == "dtype" else None


def add_fusion_hook(receive: Callable[[str, str, str], None]) -> Callable[[], None]:
    """Has `receive(name, name, reason)` called for each two nodes that Inductor does not fuse, if it is loaded.

    Inductor makes texts for its logger that nobody reads here, so that is not switched on. Returns what takes the hook
    away again.
    """

    @guarded()
    def tell(one: Any) -> None:
        if hasattr(one, "name1"):
            receive(str(one.name1), str(one.name2), str(one.reason) % tuple(one.args) if one.args else str(one.reason))

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            result = original(*args, **kwargs)
            tell(args[0])
            return result

        return call

    return intercept.around(private.get("torch._inductor.scheduler:WhyNoFuse.__call__"), answer)
