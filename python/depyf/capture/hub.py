"""One set of hooks in torch for all blocks at work.

Blocks nest and overlap, in one thread or several, and end in any order; hooks that replace something can only be taken
away in the order of their setting. So they are set with the first block and taken away with the last, and in between
each event goes to every block.
"""

from __future__ import annotations

import os
import threading
import types
from collections.abc import Callable
from typing import Any, Protocol

from depyf.compat import dynamo, graphs, trace


class Listener(Protocol):
    """A block at work. What its methods raise is given to `failed`, and goes no further."""

    def transformed(self, original: types.CodeType, code: types.CodeType) -> None: ...
    def traced(self, record: trace.Record) -> None: ...
    def scheduled(self, kind: str, text: str) -> None: ...
    def named_graph(self, name: str, graph: Any, caller: str) -> None: ...
    def guarded(self, manager: Any, local: dict[str, Any], builder: Any) -> None: ...
    def failed(self, error: Exception) -> None: ...


_lock = threading.RLock()
_listeners: tuple[Listener, ...] = ()
_undo: list[Callable[[], None]] = []
_hears_ir = False


def _after_fork() -> None:
    # Another thread may have held the lock when this process was made from its parent.
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def add(listener: Listener) -> None:
    """Sends every event to the listener until `remove`, and sets the hooks if it is the first.

    It is told of a hook that cannot be set; the others are set all the same.
    """
    global _listeners
    with _lock:
        if not _listeners:
            for set_hook in (
                lambda: dynamo.add_bytecode_hook(_transformed),
                lambda: trace.add_trace_handler(_traced),
                lambda: graphs.add_named_graph_hook(_named_graph),
                lambda: dynamo.add_guard_hook(_guarded),
            ):
                try:
                    _undo.append(set_hook())
                except Exception as error:
                    listener.failed(error)
        _listeners = (*_listeners, listener)


def remove(listener: Listener) -> None:
    """Sends no more events to the listener. Takes the hooks away if it was the last."""
    global _listeners
    with _lock:
        _listeners = tuple(one for one in _listeners if one is not listener)
        if not _listeners:
            _take_hooks_away()


def _take_hooks_away() -> None:
    global _hears_ir
    _hears_ir = False
    while _undo:
        _undo.pop()()


def _hear_ir() -> None:
    """Listens to Inductor's IR as soon as there is an Inductor: loading it only to listen would cost seconds."""
    global _hears_ir
    with _lock:
        if _listeners and not _hears_ir:
            _hears_ir = True
            _undo.append(trace.add_ir_handlers(_scheduled))


def _tell(event: Callable[[Listener], None]) -> None:
    # Exceptions of ours stay here; KeyboardInterrupt is the user's.
    for listener in _listeners:
        try:
            event(listener)
        except Exception as error:
            try:
                listener.failed(error)
            except Exception:  # nothing is left that could be told to anyone
                pass


def _transformed(original: types.CodeType, code: types.CodeType) -> None:
    _tell(lambda listener: listener.transformed(original, code))


def _traced(record: trace.Record) -> None:
    _tell(lambda listener: listener.traced(record))
    if not _hears_ir and trace.has_inductor():
        _hear_ir()


def _scheduled(kind: str, text: str) -> None:
    _tell(lambda listener: listener.scheduled(kind, text))


def _named_graph(name: str, graph: Any, caller: str) -> None:
    _tell(lambda listener: listener.named_graph(name, graph, caller))


def _guarded(manager: Any, local: dict[str, Any], builder: Any) -> None:
    _tell(lambda listener: listener.guarded(manager, local, builder))
