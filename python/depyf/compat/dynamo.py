"""Sets hooks in Dynamo, and reads its current compilation and its cache entries.

If a private name of PyTorch's is not as expected, the function that needs the name returns an empty result.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from depyf import locks
from depyf.compat import installed, private
from depyf.compat.private import guarded

BytecodeHook = Callable[[types.CodeType, types.CodeType], types.CodeType | None]
_GUARDS = "torch._dynamo.guards"
_ENTRY = "torch._C._dynamo.eval_frame:_CacheEntry"
_MOST_ENTRIES = 100_000  # bounds the loop over a linked list, which may be cyclic


class Compilation(NamedTuple):
    """The compilation that the calling thread is working on."""

    key: object
    """An object that stays the same during the whole compilation, also for its backward if that is compiled later.
    Compile ids are not unique: they repeat after `torch._dynamo.reset`."""
    number: Any
    """PyTorch's object for the compile id."""
    attempt: int

    @property
    def compile_id(self) -> str:
        return str(self.number)


@dataclass(frozen=True)
class Entry:
    """A copy of one cache entry. Dynamo's own entries point to memory of C++ and must not be kept."""

    code: types.CodeType
    guards: str = field(repr=False)
    compile_id: str | None


def add_bytecode_hook(hook: BytecodeHook) -> Callable[[], None]:
    """Calls `hook(original, transformed)` for each frame that Dynamo transforms, until the returned function is called.

    If the hook returns a code object, that code runs instead of the transformed code.
    """
    # Dynamo iterates over its hooks while it compiles, so a compilation in another thread has to end before a hook is
    # added.
    with compile_lock():
        ours = not_compiled(hook)
        handle = private.call("torch._dynamo.convert_frame:register_bytecode_hook", ours)

    def remove() -> None:
        with compile_lock():
            _remove(handle)
            hooks = private.get("torch._dynamo.convert_frame:_bytecode_hooks") or {}
            for key in [key for key, hook in hooks.items() if hook is ours]:
                del hooks[key]

    return remove


@guarded()
def _remove(handle: Any) -> None:
    if handle is not None:
        handle.remove()


def compile_lock() -> contextlib.AbstractContextManager[Any]:
    """Returns the lock that keeps other threads from compiling. In a forked child whose parent was compiling in another
    thread, the lock is never released, so a context manager without effect is returned."""
    lock = private.get("torch._dynamo.convert_frame:compile_lock")
    return contextlib.nullcontext() if lock is None or lock is _abandoned else lock


_abandoned: Any = None
"""PyTorch's lock, if another thread held the lock when this process was forked, so that no thread of this process can
release it; None if no other thread held the lock. The function `_after_fork` sets or clears `_abandoned` while the
child has only one thread, so `_abandoned` needs no lock of its own."""


def _after_fork() -> None:
    global _abandoned
    if "torch._dynamo.convert_frame" in sys.modules:
        lock = private.get("torch._dynamo.convert_frame:compile_lock")
        _abandoned = lock if lock is not None and locks.is_held_elsewhere(lock) else None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def add_guard_hook(hook: Callable[[Any, dict[str, Any], Any], None]) -> Callable[[], None]:
    """Calls `hook(guard manager, local variables, guard builder)` for each compilation when its guards are built, until
    the returned function is called.

    PyTorch has room for only one guard hook; if another guard hook is already set, it is called, too.
    """
    guards = private.module_of("torch._dynamo.guards:guard_manager_testing_hook_fn")
    if guards is None:
        return lambda: None
    name = "guard_manager_testing_hook_fn"
    before: Any = vars(guards).get(name)  # The hook is a global variable of PyTorch's module.
    ours = not_compiled(hook)

    def both(*args: Any, **kwargs: Any) -> None:
        # Before PyTorch 2.7, the guard builder is no argument of the hook, so it is read from PyTorch's own frame.
        builder = args[2] if len(args) > 2 else sys._getframe(1).f_locals.get("builder")
        if len(args) > 1:
            ours(args[0], args[1], builder)
        if callable(before):
            before(*args, **kwargs)

    setattr(guards, name, both)

    def remove() -> None:
        if vars(guards).get(name) is both:  # No other code has set a hook since.
            setattr(guards, name, before)

    return remove


@dataclass(frozen=True)
class Live:
    """The guards of a living cache entry. A `Live` object refers to memory of C++, so it has to be used at once, and
    must not be kept."""

    compile_id: str | None
    guard_manager: Any
    code: types.CodeType
    backend: Any = None

    def find_global(self, name: str) -> object:
        """Returns the value of a global of the function's module; None if the global has no value."""
        scope = globals_of(self.guard_manager)
        return scope[name] if scope is not None and name in scope else installed.find_global(name)


@guarded()
def globals_of(guard_manager: Any) -> dict[str, Any] | None:
    """Returns the globals that a tree of guards reads; None if the tree does not refer to them."""
    if not hasattr(guard_manager, "root"):  # The release has no trees.
        return None
    scope = private.of(guard_manager, "torch._dynamo.guards:GuardManagerWrapper.global_scope")
    global_scope = scope.get("G") if isinstance(scope, dict) else None
    return global_scope if isinstance(global_scope, dict) else None


def live_entries(code: types.CodeType) -> list[Live]:
    """Returns the cache entries of an original code object, in the order in which they are tried."""
    return [Live(raw.compile_id, raw.manager, raw.code, raw.backend) for raw in raw_entries(code)]


@dataclass(frozen=True, eq=False)
class RawEntry:
    """The fields of one ordinary cache entry."""

    code: types.CodeType
    manager: Any
    compile_id: str | None
    backend: Any


def raw_entries(code: types.CodeType) -> list[RawEntry]:
    """Returns the ordinary entries of an original code object, in the order in which they are tried."""
    listed = private.call("torch._dynamo.eval_frame:_debug_get_cache_entry_list", code, otherwise=[])
    entries_read = [_raw_entry(entry) for entry in _linked(listed)]
    return [entry for entry in entries_read if entry is not None]


def is_in_cache(original: types.CodeType, transformed: types.CodeType) -> bool:
    """True if a cache entry of `original` has the code `transformed`, which Dynamo runs in place of `original` if the
    guards hold."""
    return any(entry.code is transformed for entry in raw_entries(original))


@guarded()
def _raw_entry(entry: Any) -> RawEntry | None:
    if getattr(entry, "code", entry) is None:
        return None  # Dynamo drops the code of an entry once an object that its guards refer to is freed.
    code = private.of(entry, f"{_ENTRY}.code")
    has_tree = hasattr(entry, "guard_manager") or not hasattr(entry, "check_fn")
    compile_id = private.of(entry, f"{_ENTRY}.compile_id")
    return (
        None
        if code is None
        else RawEntry(
            code,
            private.of(entry, f"{_ENTRY}.guard_manager" if has_tree else f"{_ENTRY}.check_fn"),
            None if compile_id is None else str(compile_id),
            private.of(entry, f"{_ENTRY}.backend"),
        )
    )


def _linked(listed: Any) -> list[Any]:
    """Returns cache entries as a list. In older releases of PyTorch, `listed` is the first entry of a linked list."""
    if isinstance(listed, list):
        return listed
    nodes: list[Any] = []
    while listed is not None and len(nodes) < _MOST_ENTRIES:
        nodes.append(listed)
        listed = private.of(listed, f"{_ENTRY}.next")
    return nodes


def not_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that calls `function` so that Dynamo compiles neither `function` nor the functions that it
    calls.

    PyTorch can call a hook while Dynamo examines every function that the thread calls, for example in compiled
    autograd, so Dynamo could compile the hook.
    """
    try:
        from torch.compiler import disable
    except ImportError:
        return function
    return disable(function)  # type: ignore[no-any-return]


def timed(phase: str) -> contextlib.AbstractContextManager[Any]:
    """Returns a context manager whose duration is a phase of its own in PyTorch's timeline."""
    block = private.get("torch._dynamo.utils:dynamo_timed")
    return contextlib.nullcontext() if block is None else block(phase)


def current() -> Compilation | None:
    """Returns the compilation that this thread is working on; None outside of a compilation."""
    context = private.call("torch._guards:CompileContext.try_get")
    if context is None:
        return None
    compile_id = private.of(context, "torch._guards:CompileContext.compile_id")
    # The forward and the backward of a compilation have the same context object, whose attribute `attempt` counts the
    # restarts of the compilation.
    attempt = private.of(context, "torch._guards:CompileContext.attempt", 0)
    return None if compile_id is None else Compilation(context, compile_id, attempt)


def entries(code: types.CodeType) -> list[Entry]:
    """Returns the cache entries of an original code object, in the order in which they are tried."""
    return [Entry(entry.code, guards_text(entry.manager), entry.compile_id) for entry in raw_entries(code)]


@guarded(str)
def guards_text(manager: Any) -> str:
    """Returns the guards of an entry as PyTorch prints them."""
    return str(manager)


def guard_failures(code: types.CodeType, bound: dict[str, Any]) -> list[str]:
    """Returns, for each cache entry of an original code object, Dynamo's reason why a call with the locals `bound` does
    not fit the entry; entries that the call fits are left out."""
    reasons = [failure_of(entry.manager, bound) for entry in raw_entries(code)]
    return [reason for reason in reasons if reason is not None]


def guard_failure(code: types.CodeType, transformed: types.CodeType, bound: dict[str, Any]) -> str | None:
    """Returns why a call with the locals `bound` would not fit the entry with the code `transformed`; None if the call
    would fit, or if the entry is not in the cache."""
    entry = next((candidate for candidate in raw_entries(code) if candidate.code is transformed), None)
    return None if entry is None else failure_of(entry.manager, bound)


@guarded()
def failure_of(manager: Any, bound: dict[str, Any]) -> str | None:
    """Returns Dynamo's reason why guards refuse a call with the locals `bound`; None if the guards accept the call."""
    check = getattr(manager, "check_verbose", None)
    result = check(bound) if check is not None else None
    if result is None or result.result:
        return None
    parts = [str(part) for part in result.verbose_code_parts if part]
    return parts[0] if parts else "a guard fails"


@guarded()
def original_of(code: types.CodeType) -> types.CodeType | None:
    """Returns the original code object in whose place Dynamo runs `code`; None if `code` is not transformed code."""
    if "torch._dynamo.utils" not in sys.modules:
        return None
    table = private.get("torch._dynamo.utils:orig_code_map")
    original = table.get(code) if table is not None else None
    return original if isinstance(original, types.CodeType) else None


def compiled_codes() -> list[types.CodeType]:
    """Returns every living original code object that has cache entries, resume functions included."""
    return [code for code in seen_codes() if raw_entries(code)]


@guarded(list)
def seen_codes() -> list[types.CodeType]:
    """Returns every living code object that Dynamo has tried to compile since the last `torch._dynamo.reset`."""
    tracker = private.get("torch._dynamo.convert_frame:input_codes")
    references = () if tracker is None else private.of(tracker, "torch._dynamo.convert_frame:Tracker.seen", ())
    alive = [reference() for reference in list(references)]
    return [code for code in alive if isinstance(code, types.CodeType)]


def family(codes: list[types.CodeType]) -> list[types.CodeType]:
    """Returns `codes`, and the code objects of all resume functions that their transformed code calls, directly or
    through other resume functions."""
    codes_found = list(codes)
    for code in codes_found:  # The list grows during the loop.
        for entry in entries(code):
            for name in entry.code.co_names:
                if installed.is_resume_name(name):
                    resume = installed.resume_code(installed.find_global(name))
                    if resume is not None and all(resume is not known for known in codes_found):
                        codes_found.append(resume)
    return codes_found


def bytecode_log() -> logging.Logger:
    """Returns the logger of `TORCH_LOGS="+bytecode"`; if this release has no such logger, a logger that nobody has
    enabled."""
    return private.get("torch._dynamo.convert_frame:bytecode_log") or logging.getLogger("depyf.bytecode")
