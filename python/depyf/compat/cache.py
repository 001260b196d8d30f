"""Dynamo's cache: the entries of a function in the order in which they are tried, and entries that are put in front of
them.

depyf puts entries in front of the ordinary entries with the function by which PyTorch (2.9 and later) restores the
compilations of another process.

Dynamo's entries point to memory of C++ that `torch._dynamo.reset` frees, so this module returns copies of the fields of
entries. PyTorch's C++ code does not check entries that are put in front of the ordinary entries;
`depyf.toolkit.validation` checks these entries beforehand.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable
from typing import Any

from depyf._core import call_without
from depyf.compat import dynamo, private, releases
from depyf.compat.dynamo import RawEntry, compile_lock
from depyf.compat.private import guarded
from depyf.compat.releases import Release

_C = "torch._C._dynamo.eval_frame"
_LOADING = (f"{_C}:_load_precompile_entry", f"{_C}:_reset_precompile_entries", f"{_C}:_debug_get_precompile_entries")

RECORD = "depyf_record"
"""The attribute of a registered entry's guard manager that refers to depyf's record of the entry."""


def raw_entries(code: types.CodeType) -> list[RawEntry]:
    """Returns the ordinary entries of an original code object, in the order in which they are tried.

    Raises:
        NotImplementedError: this PyTorch has no function that returns cache entries.
    """
    if private.get("torch._dynamo.eval_frame:_debug_get_cache_entry_list") is None:
        raise NotImplementedError("cache entries need PyTorch 2.2 or later, and this release does not expose them")
    return dynamo.raw_entries(code)


def why_not_loadable() -> str | None:
    """Returns the reason why entries cannot be registered in front of the ordinary entries; None if entries can be
    registered."""
    absent = [path for path in _LOADING if private.get(path) is None]
    if not absent:
        return None
    import torch

    return f"registering cache entries needs PyTorch 2.9 or later; this is {torch.__version__}, without {absent[0]}"


def loaded(code: types.CodeType) -> list[Any]:
    """Returns the guard managers of the entries in front of the ordinary entries, in the order in which they are
    tried."""
    if why_not_loadable() is not None:
        return []
    entries = private.call(f"{_C}:_debug_get_precompile_entries", code, otherwise=[])
    return [private.of(entry, f"{_C}:_PrecompileEntry.guard_manager") for entry in entries]


def restored(code: types.CodeType) -> list[Any]:
    """Returns the guard managers of the entries that PyTorch itself restored, in the order in which they are tried."""
    return [manager for manager in loaded(code) if not hasattr(manager, RECORD)]


def loader() -> Any:
    """Returns PyTorch's own function that puts an entry in front of the ordinary entries; None if this PyTorch lacks
    the function. If depyf has put a hook around the function, the function is returned without the hook, because no
    Python code may run while PyTorch adds the entry."""
    function = private.get(f"{_C}:_load_precompile_entry")
    return getattr(function, "__wrapped__", function)


def load_behind(code: types.CodeType, manager: Any, new: types.CodeType) -> None:
    """Puts an entry in front of the ordinary entries of `code`, and behind the entries that were put there before.

    PyTorch does not check that `new` fits the function.

    Args:
        code: the function's own code.
        manager: the guard manager of the entry.
        new: the code that runs if the guards hold.
    """
    with compile_lock():
        loader()(code, manager, new)
        _track(code)


def replace(code: types.CodeType, entries: list[tuple[Any, types.CodeType]]) -> bool:
    """Replaces all entries in front of the ordinary entries of `code` by `entries`, which are pairs of a guard manager
    and the code to run.

    PyTorch checks neither whether the new code fits the function nor whether another thread is using the replaced
    entries, which are freed. A thread looks up entries only inside a call of a wrapper that torch.compile returned,
    because only such a wrapper sets Dynamo's callback for the thread. Idle threads of a notebook's kernel, of a pool or
    of a server are not inside a call of such a wrapper.

    Returns:
        False, with nothing changed, if another thread may be looking up entries; otherwise True.
    """
    load_entry, reset = loader(), private.get(f"{_C}:_reset_precompile_entries")
    calls = [(reset, (code,)), *((load_entry, (code, manager, new)) for manager, new in entries)]
    with compile_lock():
        is_replaced = call_without(_file_of_wrapper(), calls)
        if is_replaced and entries:
            _track(code)
    return is_replaced


def _file_of_wrapper() -> str:
    call = private.get("torch._dynamo.eval_frame:_TorchDynamoContext.__call__")
    return str(call.__code__.co_filename)


@guarded()
def _track(code: types.CodeType) -> None:
    # torch._dynamo.reset clears the entries of the codes in the table `input_codes`, so `code` is added to it.
    tracker = private.get("torch._dynamo.convert_frame:input_codes")
    if tracker is not None:
        tracker.add(code)


@guarded()
def look_at_again(code: types.CodeType) -> None:
    """Makes Dynamo look up cache entries again for a function that Dynamo has given up compiling, for example after a
    graph break in a loop."""
    action, strategy = private.get(f"{_C}:_FrameAction"), private.get(f"{_C}:_FrameExecStrategy")
    if action is not None and strategy is not None:
        private.call(f"{_C}:set_code_exec_strategy", code, strategy(action.DEFAULT, action.DEFAULT))


@guarded(list)
def installed_names(code: types.CodeType) -> list[str]:
    """Returns the names of the globals that Dynamo created for transformed code and deletes together with the code."""
    known = private.get("torch._dynamo.utils:CleanupManager.instance")
    try:
        hooks = [] if known is None else known[code]
    except KeyError:
        return []
    return [hook.name for hook in hooks if isinstance(hook.name, str)]


def context_of(wrapper: Any) -> Any:
    """Returns PyTorch's context object, which a result of `torch.compile` refers to; None for any other value."""
    if not isinstance(wrapper, types.FunctionType):  # The value is a module.
        return getattr(wrapper, "dynamo_ctx", None)
    cells = dict(zip(wrapper.__code__.co_freevars, wrapper.__closure__ or ()))
    with contextlib.suppress(KeyError, ValueError):
        return cells["self"].cell_contents
    return None


@guarded()
def backend_of(wrapper: Any) -> Any:
    """Returns the backend that a result of `torch.compile` compiles with; None if the backend is unknown."""
    backend: Any = getattr(context_of(wrapper), "callback", None)
    seen = 0
    while hasattr(backend, "_torchdynamo_orig_backend") and seen < 20:
        backend = backend._torchdynamo_orig_backend
        seen += 1
    return backend


def same_backend(first: Any, second: Any) -> bool:
    """True if Dynamo uses an entry that the backend `first` compiled for a caller with the backend `second`."""
    if first is None or second is None or first is second:
        return True
    try:
        return type(first) is type(second) and bool(first == second)
    except Exception:
        return False


def stance() -> str:
    """Returns the stance that `torch.compiler.set_stance` has set; "default" if this PyTorch has no stances."""
    now = private.get("torch._dynamo.eval_frame:_stance")
    value = None if now is None else private.of(now, "torch._dynamo.eval_frame:DynamoStance.stance")
    return "default" if value is None else str(value)


def recompile_limit() -> int | None:
    """Returns the number of entries at which Dynamo stops compiling a function; None if this number is unknown."""
    limit = private.get("torch._dynamo.config:recompile_limit") or private.get("torch._dynamo.config:cache_size_limit")
    return limit if isinstance(limit, int) else None


def keeps_entries_at_limit() -> bool:
    """True if Dynamo still uses the cache entries of a function that has reached the recompilation limit, as PyTorch
    2.5 and later releases do."""
    return Release.of(releases.installed() or "") >= Release(2, 5)


# The functions below create, copy and check trees of guards.

_NO_TREES = "guards that can be evaluated and edited need PyTorch 2.6 or later"


def new_manager(global_scope: dict[str, Any]) -> Any:
    """Returns a guard tree without guards, which accepts every call.

    Raises:
        NotImplementedError: this PyTorch has no trees of guards that Python code can create.
    """
    root = private.get("torch._C._dynamo.guards:RootGuardManager")
    if root is None:
        raise NotImplementedError(_NO_TREES)
    return _wrapped(root(), None, global_scope)


def clone_manager(manager: Any, dropped_sources: frozenset[str]) -> Any:
    """Returns a copy of a tree without the guards on the values that are read through the given sources ("L['b']")."""
    if not hasattr(getattr(manager, "root", None), "clone_manager"):
        raise NotImplementedError(_NO_TREES)
    root = manager.root.clone_manager(lambda manager_node: manager_node.get_source() not in dropped_sources)
    return _wrapped(root, manager, manager.global_scope)


def _wrapped(root: Any, model: Any, global_scope: Any) -> Any:
    make = private.get("torch._dynamo.guards:GuardManagerWrapper")
    if make is None:
        raise NotImplementedError(_NO_TREES)
    wrapper = make(root)
    # PyTorch reads the following attributes of a tree of guards when it reports why guards failed.
    wrapper.closure_vars = dict(getattr(model, "closure_vars", None) or {})
    wrapper.global_scope = global_scope if global_scope is not None else {}
    wrapper.args = list(getattr(model, "args", None) or ["L", "G", "**___kwargs_ignored"])
    wrapper.verbose_code_parts = []
    # The tree keeps the objects alive that its guards compare by identity.
    wrapper.id_matched_objs = dict(getattr(model, "id_matched_objs", None) or {})
    return wrapper


def add_guard(manager: Any, accepts: Callable[[dict[str, Any]], bool], text: str) -> None:
    """Adds a guard on the locals that is checked before all other guards that read the locals.

    While a check runs, relational guards store the values that they compare in objects that all copies of a tree share.
    No Python code may run between two relational guards, because another thread could interrupt this code and check a
    copy of the tree.

    `accepts` must not raise an exception: PyTorch would treat the exception as a refusal without a reason.
    """
    try:
        manager.root.add_lambda_guard(accepts, [text], None)
    except TypeError:  # Before PyTorch 2.9, the method takes no user stack.
        manager.root.add_lambda_guard(accepts, [text])


def has_trees() -> bool:
    """True if this release of PyTorch is expected to have trees of guards."""
    return private.expected("torch._dynamo.guards:GuardManagerWrapper.check")


def accepts(manager: Any, f_locals: dict[str, Any]) -> bool:
    """True if a tree of guards accepts a frame with these locals.

    Raises:
        NotImplementedError: this PyTorch has no trees of guards.
    """
    if not hasattr(manager, "check"):
        raise NotImplementedError(_NO_TREES)
    return bool(manager.check(f_locals))


def first_failure(manager: Any, f_locals: dict[str, Any]) -> list[str]:
    """Returns PyTorch's own texts about the first guard that fails; an empty list if no guard fails."""
    info = manager.check_verbose(f_locals)
    return [] if info.result else [str(part) for part in info.verbose_code_parts]
