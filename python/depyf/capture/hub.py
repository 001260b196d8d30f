"""Sets one set of hooks in PyTorch for all open `prepare_debug` blocks.

`prepare_debug` blocks nest and overlap, in one thread or several, and end in any order. Hooks that replace functions or
variables of PyTorch can only be removed in the reverse of the order in which they were set. All hooks are set when the
first `prepare_debug` block begins and removed when the last open block ends, and each call of a hook is passed on to
every open block.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from depyf import locks, weak
from depyf.compat import (
    ahead,
    at_work,
    compiled,
    dynamo,
    eval_frame,
    graphs,
    inductor,
    loggers,
    precompiled,
    restored,
    trace,
)
from depyf.printing import hooks
from depyf.session import PhaseEvent


class Listener(Protocol):
    """An open `prepare_debug` block, whose methods the hooks in PyTorch call. An exception that a method of a listener
    raises is passed to the listener's method `failed`, and is not propagated."""

    directory: Path

    def transformed(self, original: types.CodeType, code: types.CodeType) -> types.CodeType | None: ...
    def traced(self, record: trace.Record) -> None: ...
    def timed(self, events: list[PhaseEvent]) -> None: ...
    def scheduled(self, kind: str, text: str) -> None: ...
    def named_graph(self, name: str, graph: Any, caller: str) -> None: ...
    def guarded(self, manager: Any, local: dict[str, Any], builder: Any) -> None: ...
    def recompiled(self, graph: Any) -> None: ...
    def loaded(self, path: str, module: types.ModuleType) -> None: ...
    def began_ahead(self, step: ahead.Step, function: Any = None) -> None: ...
    def ended_ahead(self, step: ahead.Step, result: Any, succeeded: bool = True) -> None: ...
    def restored(self, original: types.CodeType, manager: Any, code: types.CodeType) -> None: ...
    def not_fused(self, first: str, second: str, reason: str) -> None: ...
    def failed(self, error: Exception) -> None: ...


_lock = locks.Lock()
"""The lock for the variables `_listeners`, `_undo` and `_hears_inductor`. Nothing clears the lock, which exists as
long as the process. A forked child can acquire the lock, and continues with the open blocks."""
_listeners: tuple[Listener, ...] = ()
"""The open `prepare_debug` blocks, in the order in which they began. The tuple is replaced under `_lock` and never
modified, so that the hooks can read it without the lock. The function `remove` clears the tuple block by block; a
forked child continues with its copy of the tuple."""
_undo: list[Callable[[], None]] = []
"""Functions that remove the hooks; they are called, and the list is cleared, when the last open block ends. The list is
guarded by `_lock`; a forked child continues with its copy, as the child has the hooks, too."""
_hears_inductor = False
"""True if the hooks in Inductor are set. The flag is set under `_lock` and cleared when the last open block ends; a
forked child continues with its copy."""
_WITHOUT_INDUCTOR = {"eager", "aot_eager", "aot_eager_decomp_partition"}
"""The names of those backends of PyTorch that never pass a graph to Inductor."""


def add(listener: Listener) -> None:
    """Makes the hooks in PyTorch call the methods of `listener` until `remove` is called. If `listener` is the first
    listener, the hooks in PyTorch are set.

    The method `failed` of the listener is called for each hook that cannot be set; the remaining hooks are still set.
    """
    global _listeners
    trace.flush()
    with _lock:
        if not _listeners:
            eval_frame.pass_over(weak.Forget.__call__)
            set_hooks: tuple[Callable[[], Callable[[], None]], ...] = (
                lambda: dynamo.add_bytecode_hook(_transformed),
                lambda: trace.add_trace_handler(_traced, _timed),
                lambda: graphs.add_named_graph_hook(_named_graph),
                lambda: dynamo.add_guard_hook(_guarded),
                lambda: graphs.add_recompile_hook(_recompiled),
                lambda: ahead.add_hook(_began_ahead, _ended_ahead),
                lambda: ahead.add_load_hook(_began_loading_ahead, _loaded_ahead),
                lambda: precompiled.add_hook(_began_precompiling, _precompiled),
                lambda: restored.add_hook(_restored),
                hooks.add_graph_hook,
                hooks.add_guard_hook,
            )
            for set_hook in set_hooks:
                try:
                    _undo.append(set_hook())
                except Exception as error:
                    listener.failed(error)
        _listeners = (*_listeners, listener)


def remove(listener: Listener) -> None:
    """Ends the calls of the methods of `listener` by the hooks. If `listener` was the last listener, the hooks are
    removed from PyTorch."""
    global _listeners
    trace.flush()
    with _lock:
        _listeners = tuple(known for known in _listeners if known is not listener)
        if not _listeners:
            _take_hooks_away()


def substitutes(directory: Path) -> bool:
    """True if code that is compiled from the files in `directory` may run in place of PyTorch's own code. Only the
    first of the open `prepare_debug` blocks lets code from its files run in place of PyTorch's code."""
    listeners = _listeners
    return bool(listeners) and listeners[0].directory == directory


def active() -> bool:
    """True if any `prepare_debug` block is open."""
    return bool(_listeners)


def _take_hooks_away() -> None:
    global _hears_inductor
    _hears_inductor = False
    while _undo:
        _undo.pop()()


def _hear_inductor() -> None:
    """Sets the hooks in Inductor as soon as PyTorch may pass a graph to Inductor. The hooks are not set earlier:
    setting them would import Inductor, which takes seconds, and would set a log level, which clears the cached levels
    of all loggers."""
    global _hears_inductor
    if _hears_inductor or not loggers.has_inductor():
        return
    if compiled.backend_name(at_work.backend_at_work()) in _WITHOUT_INDUCTOR:
        return
    with _lock:
        if _listeners and not _hears_inductor:
            _hears_inductor = True
            _undo.append(loggers.add_ir_handlers(_scheduled, inductor.elsewhere()))
            _undo.append(graphs.add_module_hook(_loaded))
            _undo.append(inductor.add_fusion_hook(_not_fused))
            _undo.append(hooks.add_ir_hook())


def _tell(event: Callable[[Listener], None]) -> None:
    # Only subclasses of `Exception` are caught, so that a KeyboardInterrupt reaches the user's program.
    for listener in _listeners:
        try:
            event(listener)
        except Exception as error:
            try:
                listener.failed(error)
            except Exception:  # The listener cannot be notified, so the error is dropped.
                pass


def _transformed(original: types.CodeType, code: types.CodeType) -> types.CodeType | None:
    replacements: list[types.CodeType] = []

    def tell(listener: Listener) -> None:
        replacement = listener.transformed(original, code)
        if replacement is not None:
            replacements.append(replacement)

    _tell(tell)
    return replacements[0] if replacements else None


def _traced(record: trace.Record) -> None:
    if record.graph is not None or record.event in ("kernel", "cache hit"):
        _hear_inductor()
    _tell(lambda listener: listener.traced(record))


def _timed(events: list[PhaseEvent]) -> None:
    _tell(lambda listener: listener.timed(events))


def _scheduled(kind: str, text: str) -> None:
    _tell(lambda listener: listener.scheduled(kind, text))


def _named_graph(name: str, graph: Any, caller: str) -> None:
    _hear_inductor()
    _tell(lambda listener: listener.named_graph(name, graph, caller))


def _guarded(manager: Any, local: dict[str, Any], builder: Any) -> None:
    _tell(lambda listener: listener.guarded(manager, local, builder))


def _recompiled(graph: Any) -> None:
    _tell(lambda listener: listener.recompiled(graph))


def _began_ahead() -> None:
    _tell(lambda listener: listener.began_ahead("compile"))


def _ended_ahead(result: ahead.Compiled | None) -> None:
    _tell(lambda listener: listener.ended_ahead("compile", result))


def _began_loading_ahead() -> None:
    _hear_inductor()
    _tell(lambda listener: listener.began_ahead("load"))


def _began_precompiling(function: Any) -> None:
    _hear_inductor()
    _tell(lambda listener: listener.began_ahead("precompile", function))


def _precompiled(graph: Any, succeeded: bool) -> None:
    _tell(lambda listener: listener.ended_ahead("precompile", graph, succeeded))


def _restored(original: types.CodeType, manager: Any, code: types.CodeType) -> None:
    _tell(lambda listener: listener.restored(original, manager, code))


def _loaded_ahead(result: ahead.Compiled | None) -> None:
    _tell(lambda listener: listener.ended_ahead("load", result))


def _loaded(path: str, module: types.ModuleType) -> None:
    _tell(lambda listener: listener.loaded(path, module))


def _not_fused(first: str, second: str, reason: str) -> None:
    _tell(lambda listener: listener.not_fused(first, second, reason))
