"""The text of Inductor's IR, made as PyTorch makes it and in less time.

While the IR is logged, the functions that its text is made of are answered from here: the same text, made once, or with
fewer calls. What is not as in the releases that are known goes to PyTorch's own.
"""

from __future__ import annotations

import contextlib
import re
import textwrap
import threading
import types
from collections.abc import Callable, Iterator
from math import isfinite
from operator import getitem
from typing import Any

from depyf.compat import intercept, private, sympy_text
from depyf.compat.ir_state import States
from depyf.compat.unchanged import State

_WIDTH = 80  # of lines that `pprint` leaves whole
# `; del x`, which the text of a loop's body leaves out.
_AFTER_STATEMENT = re.compile(r";[^\n]*")


class _Texts:
    """What the text of the IR is made of, while a thread makes it.

    The text of a node is made once for the IR before and after fusion, if nothing of it changed (see `ir_state`). Of a
    loop's body it is made from its graph, and no module, compiled, of it before. The text of an expression of SymPy is made
    once too: it never changes, and is known by its identity, as equal ones can have other texts (2 and 2.0). So is that of a
    dependency. A layout can change, and does not while the text is made. Lines are indented and put together in a few
    steps, not one by one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nodes: dict[int, tuple[Any, State, str]] = {}
        self._layouts: dict[int, tuple[Any, str]] = {}
        self._dependencies: dict[int, tuple[Any, str]] = {}
        self._expressions: dict[int, tuple[Any, str]] = {}
        self._thread: int | None = None
        self._original: Callable[[Any], str] = object.__str__
        self._is_usual = False
        self._parts: list[intercept.Interception] = []

    def add_parts(self) -> None:
        """Looks up the functions whose calls are answered."""
        self._states = States()
        self._parts = [
            intercept.Interception(private.get("torch._inductor.scheduler:BaseSchedulerNode.debug_str"), self._node),
            intercept.Interception(private.get("torch._inductor.loop_body:LoopBodyBlock.debug_str"), self._loop),
            intercept.Interception(private.get("torch._inductor.scheduler:pformat"), self._formatted),
            intercept.Interception(private.get("torch._inductor.utils:IndentedBuffer.splice"), self._spliced),
            intercept.Interception(private.get("torch._inductor.utils:IndentedBuffer.getrawvalue"), self._joined),
        ]

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Texts are kept in this block; where another thread is in one, this one does without."""
        function = private.get("sympy.core._print_helpers:Printable.__str__")
        is_known = type(function) is types.FunctionType and not function.__closure__ and function.__defaults__ is None
        if not is_known or not self._lock.acquire(blocking=False):
            yield
            return
        code = function.__code__
        self._thread = threading.get_ident()
        self._original = types.FunctionType(code, function.__globals__)
        self._is_usual = sympy_text.is_right()
        # Not the attribute: to set one of a class with so many subclasses takes as long as many texts.
        function.__defaults__ = (self.of_expression,)
        function.__code__ = _text_of_expression.__code__
        try:
            for part in self._parts:
                part.set(may_be_compiled=True)  # Dynamo looks at nothing that the text of the IR calls
            yield
        finally:
            function.__code__, function.__defaults__ = code, None
            for part in self._parts:
                part.take_away()
            self._layouts.clear()
            self._states.forget()
            self._lock.release()

    def of_expression(self, expression: Any) -> str:
        """The text of an expression."""
        found = self._expressions.get(id(expression))
        if found is not None:
            return found[1]
        made = (sympy_text.text(expression) if self._is_usual else None) or self._original(expression)
        if threading.get_ident() == self._thread:
            self._expressions[id(expression)] = expression, made
        return made

    def _node(self, original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            if kwargs or len(args) != 1 or threading.get_ident() != self._thread:
                return original(*args, **kwargs)
            node = args[0]
            state = self._states.of(node)
            if state is None:
                return original(node)
            found = self._nodes.get(id(node))
            if found is None or not found[1].is_still(state):
                found = self._nodes[id(node)] = node, state, original(node)
            return found[2]

        return call

    def _loop(self, original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            try:
                block, name = args
                return _loop(block.graph, name)
            except Exception:  # of another release
                return original(*args, **kwargs)

        return call

    def _formatted(self, original: Callable[..., Any]) -> intercept.Call:
        is_known = _is_known_format(original)

        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            one: Any = args[0] if len(args) == 1 and not kwargs and threading.get_ident() == self._thread else None
            if type(one).__name__.endswith("Layout"):
                found = self._layouts.get(id(one))
                if found is None:
                    found = self._layouts[id(one)] = one, original(one)
                return found[1]
            if is_known and type(one).__name__ in ("OrderedSet", "set") and all(map(_is_dependency, one)):
                texts = sorted(map(self._of_dependency, one))
                if all(len(text) < _WIDTH // 2 or text.startswith("MemoryDep(") for text in texts):
                    return _format_of_list(texts)
            return original(*args, **kwargs)

        return call

    def _of_dependency(self, one: Any) -> str:
        found = self._dependencies.get(id(one))
        if found is None:
            found = self._dependencies[id(one)] = one, str(one)
        return found[1]

    def _spliced(self, original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            if kwargs or len(args) != 2 or threading.get_ident() != self._thread:
                return original(*args, **kwargs)
            buffer, text = args
            if type(text) is not str or type(buffer).__name__ != "IndentedBuffer":
                return original(buffer, text)
            try:
                prefix, lines = buffer.prefix(), buffer._lines
                if text and text[0].isspace():  # else nothing is in front of all lines
                    text = _dedented(text)
                if text:
                    lines += [f"{prefix}{one}" if one.strip() else "" for one in text.rstrip().split("\n")]
            except AttributeError:  # of another release
                return original(buffer, text)

        return call

    def _joined(self, original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            try:
                text = "\n".join([*args[0]._lines, ""])
            except (AttributeError, TypeError):  # of another release; lines that are made later
                return original(*args, **kwargs)
            return original(*args, **kwargs) if "\\\n" in text else text  # a line that goes on

        return call

    def forget(self) -> None:
        self._nodes.clear()
        self._dependencies.clear()
        self._expressions.clear()


_texts = _Texts()


def forget_texts() -> None:
    """To be called when the IR was told for the last time."""
    _texts.forget()


def _text_of_expression(self: Any, text_of: Callable[[Any], str]) -> str:
    # Runs with SymPy's globals; what it calls is set as its default.
    return text_of(self)


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


def _dedented(text: str) -> str:
    """As `textwrap.dedent`, but for blank lines."""
    lines = text.split("\n")
    first = lines[0]
    margin = first[: len(first) - len(first.lstrip(" "))]
    if not margin or first.isspace() or not all(one.startswith(margin) for one in lines if one and not one.isspace()):
        return textwrap.dedent(text)
    return "\n".join([one.removeprefix(margin) for one in lines])


def _is_dependency(one: Any) -> bool:
    return type(one).__name__ in ("MemoryDep", "StarDep", "WeakDep") and type(one).__str__ is object.__str__


def _format_of_list(texts: list[str]) -> str:
    """As `pprint` formats a list, if what is in it has these texts, and Inductor adds to that."""
    text = f"[{', '.join(texts)}]"
    if len(text) <= _WIDTH:
        return text
    if len(texts) == 1:
        return f"[   {texts[0]}]"
    return "\n    [   " + ",\n        ".join(texts) + "]"


def _is_known_format(original: Callable[..., Any]) -> bool:
    """Does Inductor format sets as it is known to?"""
    for count, length in ((0, 1), (2, 30), (2, 37), (2, 38), (3, 50), (1, 90)):
        samples = {_Sample(f"{i}{'x' * length}") for i in range(count)}
        try:
            if original(samples) != _format_of_list(sorted(map(str, samples))):
                return False
        except Exception:  # of another release
            return False
    return True


class _Sample:
    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


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
