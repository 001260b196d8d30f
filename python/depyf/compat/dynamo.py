"""Dynamo: the bytecode hook, the compilation at work, cache entries.

Relied on: `torch._dynamo.convert_frame.register_bytecode_hook`, `.input_codes`; `torch._guards.CompileContext`;
`torch._dynamo.eval_frame._debug_get_cache_entry_list`, and the fields of its entries. Where one is missing the function
that needs it returns its empty answer, and `missing()` names what will not be seen.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

BytecodeHook = Callable[[types.CodeType, types.CodeType], types.CodeType | None]


@dataclass(frozen=True)
class Compilation:
    """The compilation that the calling thread is at."""

    key: object
    """The same object for all of one compilation, also for its backward when that is compiled later. Compile ids are
    not: they repeat after `torch._dynamo.reset`.
    """
    compile_id: str
    attempt: int


@dataclass(frozen=True)
class Entry:
    """What is copied of one cache entry. Entries themselves point into memory of C++ and must not be kept."""

    code: types.CodeType
    guards: str
    compile_id: str | None


def missing() -> list[str]:
    """What this release of PyTorch lacks, one sentence each."""
    found = []
    if _convert_frame_attribute("register_bytecode_hook") is None:
        found.append("This PyTorch has no register_bytecode_hook: transformed code is not seen.")
    if _entry_list() is None:
        found.append(
            "This PyTorch has no _debug_get_cache_entry_list: cache entries made before the block are not seen."
        )
    return found


def add_bytecode_hook(hook: BytecodeHook) -> Callable[[], None]:
    """Has `hook(original, transformed)` called for each frame that Dynamo transforms. Returns what takes it away.

    Code that the hook returns runs instead of the transformed code.
    """
    register = _convert_frame_attribute("register_bytecode_hook")
    if register is None:
        return lambda: None
    # Dynamo iterates over its hooks while it compiles: another thread's compilation has to end first.
    lock = _convert_frame_attribute("compile_lock") or contextlib.nullcontext()
    with lock:
        handle = register(not_compiled(hook))

    def remove() -> None:
        with lock:
            handle.remove()

    return remove


def add_guard_hook(hook: Callable[[Any, dict[str, Any], Any], None]) -> Callable[[], None]:
    """Has `hook(guard manager, local variables, guard builder)` called for each compilation, when its guards are made.

    Returns what takes it away. PyTorch has one place for such a hook: one that is there already is called too.
    """
    try:
        from torch._dynamo import guards
    except ImportError:
        return lambda: None
    if not hasattr(guards, "guard_manager_testing_hook_fn"):
        return lambda: None
    before: Any = guards.guard_manager_testing_hook_fn
    ours = not_compiled(hook)

    def both(manager: Any, local: Any, builder: Any) -> None:
        ours(manager, local, builder)
        if before is not None:
            before(manager, local, builder)

    guards.guard_manager_testing_hook_fn = both

    def remove() -> None:
        if guards.guard_manager_testing_hook_fn is both:  # nobody else has set one since
            guards.guard_manager_testing_hook_fn = before

    return remove


@dataclass(frozen=True)
class Live:
    """A cache entry's guards, alive; to be used at once."""

    compile_id: str | None
    guard_manager: Any
    code: types.CodeType
    backend: Any = None

    def find_global(self, name: str) -> object:
        """The value of a global of the function's module; None if there is none."""
        scope = (getattr(self.guard_manager, "global_scope", None) or {}).get("G")
        return scope[name] if isinstance(scope, dict) and name in scope else find_global(name)


def live_entries(code: types.CodeType) -> list[Live]:
    """The cache entries of an original code object, the one that is tried first in front."""
    get = _entry_list()
    if get is None:
        return []
    return [
        Live(
            None if (compile_id := getattr(entry, "compile_id", None)) is None else str(compile_id),
            getattr(entry, "guard_manager", None) or getattr(entry, "check_fn", None),
            entry.code,
            getattr(entry, "backend", None),
        )
        for entry in get(code)
    ]


def call_to_compile() -> tuple[types.CodeType, dict[str, Any]] | None:
    """The code and the local variables of the call that makes Dynamo compile again.

    To be called while the reasons are told. No argument leads there, so PyTorch's own frame is asked.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch._dynamo.guards" and "cache_entries" in frame.f_locals:
            call = frame.f_locals.get("frame")
            code, local = getattr(call, "f_code", None), getattr(call, "f_locals", None)
            if isinstance(code, types.CodeType) and isinstance(local, dict):
                return code, local
        frame = frame.f_back
    return None


def not_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, called so that Dynamo compiles neither it nor what it calls.

    PyTorch calls hooks also where Dynamo looks at every function that is called, in compiled autograd for one.
    """
    try:
        from torch.compiler import disable
    except ImportError:
        return function
    return disable(function)  # type: ignore[no-any-return]


def current() -> Compilation | None:
    """The compilation that this thread is at; None outside of one."""
    try:
        from torch._guards import CompileContext

        context = CompileContext.try_get()
        if context is None or context.compile_id is None:
            return None
        # The context is one object for forward and backward. Its attempt counts restarts.
        return Compilation(context, str(context.compile_id), context.attempt)
    except (ImportError, AttributeError):
        return None


def globals_being_compiled() -> dict[str, Any] | None:
    """The globals of the function being compiled; to be called within a bytecode hook.

    No argument of the hook leads to them, so they are looked up in the compiler's own frame.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch._dynamo.convert_frame":
            found = frame.f_locals.get("globals")
            if type(found) is dict:
                return found
        frame = frame.f_back
    return None


def entries(code: types.CodeType) -> list[Entry]:
    """The cache entries of an original code object, the one that is tried first in front."""
    get = _entry_list()
    if get is None:
        return []
    found = []
    for entry in get(code):
        guards = getattr(entry, "guard_manager", None) or getattr(entry, "check_fn", None)
        compile_id = getattr(entry, "compile_id", None)
        found.append(Entry(entry.code, str(guards), None if compile_id is None else str(compile_id)))
    return found


def guard_failures(code: types.CodeType, bound: dict[str, Any]) -> list[str]:
    """Of each cache entry of an original code object, why a call with these locals does not fit it, in Dynamo's words."""
    get = _entry_list()
    found = [_failure(entry, bound) for entry in (get(code) if get is not None else ())]
    return [reason for reason in found if reason is not None]


def guard_failure(code: types.CodeType, transformed: types.CodeType, bound: dict[str, Any]) -> str | None:
    """Why a call with these locals would not fit the entry with this transformed code; None where it would."""
    get = _entry_list()
    entry = next((one for one in (get(code) if get is not None else ()) if one.code is transformed), None)
    return None if entry is None else _failure(entry, bound)


def _failure(entry: Any, bound: dict[str, Any]) -> str | None:
    check = getattr(getattr(entry, "guard_manager", None), "check_verbose", None)
    result = check(bound) if check is not None else None
    if result is None or result.result:
        return None
    parts = [part for part in result.verbose_code_parts if part]
    return parts[0] if parts else "a guard fails"


def original_of(code: types.CodeType) -> types.CodeType | None:
    """The code object that transformed code runs in place of; None for other code."""
    table = getattr(sys.modules.get("torch._dynamo.utils"), "orig_code_map", None)
    found = table.get(code) if table is not None else None
    return found if isinstance(found, types.CodeType) else None


def compiled_codes() -> list[types.CodeType]:
    """Every original code object alive, resume functions included, that has cache entries."""
    tracker = _convert_frame_attribute("input_codes")
    get = _entry_list()
    if tracker is None or get is None:
        return []
    alive = [reference() for reference in list(getattr(tracker, "seen", ()))]
    return [code for code in alive if code is not None and get(code)]


def family(codes: list[types.CodeType]) -> list[types.CodeType]:
    """The code objects, and those of the resume functions that what Dynamo made of them leads to."""
    found = list(codes)
    for code in found:  # grows on the way
        for entry in entries(code):
            for name in entry.code.co_names:
                if is_resume_name(name):
                    resume = resume_code(find_global(name))
                    if resume is not None and all(resume is not one for one in found):
                        found.append(resume)
    return found


def resume_code(value: object) -> types.CodeType | None:
    """The code object behind a `__resume_at_*` global: a function, or a factory of one if that has free variables."""
    if not isinstance(value, types.FunctionType):
        return None
    if value.__code__.co_name.startswith(("torch_dynamo_resume_in", "resume_in")):
        return value.__code__
    for cell in value.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        if type(content) is types.CodeType:
            return content
    return value.__code__


def resume_globals(value: types.FunctionType) -> dict[str, Any]:
    """The globals of the resume function behind a `__resume_at_*` global; a factory of one keeps them in a cell."""
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
        if name == "f_globals" and type(cell.cell_contents) is dict:
            return cell.cell_contents
    return value.__globals__


def is_resume_name(name: str) -> bool:
    """Is `name` the global under which a transformed function finds a resume function?"""
    return name.startswith("__resume_at_")


def is_resume_code(code: types.CodeType) -> bool:
    """Is this the code of a function that Dynamo made to go on after a graph break?"""
    return code.co_name.startswith(("torch_dynamo_resume_in_", "resume_in_"))


def parameters(code: types.CodeType) -> dict[str, tuple[str, ...]]:
    """What the parameters of the resume functions are called that transformed code calls, by their global names."""
    found = {}
    table: dict[str, Any] | None = None
    for name in code.co_names:
        if not is_resume_name(name):
            continue
        if table is None:
            table = globals_being_compiled() or {}
        resume = resume_code(table[name] if name in table else find_global(name))
        if resume is not None:
            found[name] = resume.co_varnames[: resume.co_argcount]
    return found


def find_global(name: str) -> object:
    """The value of a global whose name is unique in the process, in whichever module it is; None if in none."""
    for module in list(sys.modules.values()):
        table = getattr(module, "__dict__", None)
        if type(table) is dict and name in table:
            return table[name]
    return None


def convert_frame() -> Any:
    """The module of Dynamo's that compiles; None where there is none."""
    try:
        from torch._dynamo import convert_frame as module
    except ImportError:
        return None
    return module


def _convert_frame_attribute(name: str) -> Any:
    return getattr(convert_frame(), name, None)


def _entry_list() -> Callable[[types.CodeType], list[Any]] | None:
    try:
        from torch._dynamo import eval_frame
    except ImportError:
        return None
    return getattr(eval_frame, "_debug_get_cache_entry_list", None)


def bytecode_log() -> logging.Logger:
    """The logger of `TORCH_LOGS="+bytecode"`; one that nobody has enabled where there is none."""
    return _convert_frame_attribute("bytecode_log") or logging.getLogger("depyf.bytecode")
