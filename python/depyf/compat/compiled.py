"""Reads the data that `torch.compile` leaves behind: its settings, the graphs that compiled functions hold, the reasons
of recompilations, and the rules by which Dynamo skips functions.

The settings of `torch.compile` are in Dynamo's context, to which the compiled function refers in its attribute
`dynamo_ctx` or in a cell of its closure. A graph is found through the attributes and closures of a compiled function,
if the backend keeps the graph. Each function of this module returns an empty result if the data that it reads is
missing.
"""

from __future__ import annotations

import types
from typing import Any

from depyf.compat import dynamo, graphs, private
from depyf.compat.private import guarded


@guarded()
def dynamic_of(wrapper: Any) -> bool | None:
    """Returns the argument `dynamic` with which `torch.compile` was called to get `wrapper`; None also if the argument
    is unknown."""
    candidates = [getattr(wrapper, "dynamo_ctx", None)]
    for cell in getattr(wrapper, "__closure__", None) or ():
        try:
            candidates.append(cell.cell_contents)
        except ValueError:
            continue
    for candidate in candidates:
        value = getattr(candidate, "_dynamic", None)
        if type(value) is bool:
            return value
    return None


@guarded(str)
def backend_name(backend: Any) -> str:
    """Returns the name by which the user knows a backend; "" if the name is unknown."""
    if backend is None or backend is False:
        return ""
    for _ in range(4):
        name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", None)
        if isinstance(name, str):
            return "inductor" if type(backend).__name__ == "_TorchCompileInductorWrapper" else name
        inner = getattr(backend, "_torchdynamo_orig_backend", None) or getattr(backend, "compiler_fn", None)
        if inner is None or inner is backend:
            break
        backend = inner
    return type(backend).__name__


@guarded()
def graph_text(compiled: Any) -> str | None:
    """Returns the source of the graph from which the backend compiled `compiled`, the value of a global
    `__compiled_fn_N`; None if the backend does not keep the graph."""
    import torch

    todo, seen = [(compiled, 0)], set()
    while todo:
        value, depth = todo.pop(0)
        if id(value) in seen or depth > 4:
            continue
        seen.add(id(value))
        if isinstance(value, torch.fx.GraphModule):
            return graphs.text(value) or None
        for name in ("_torchdynamo_orig_callable", "__wrapped__", "__self__"):
            inner = getattr(value, name, None)
            if inner is not None and not isinstance(inner, types.ModuleType):
                todo.append((inner, depth + 1))
        for cell in getattr(value, "__closure__", None) or ():
            try:
                todo.append((cell.cell_contents, depth + 1))
            except ValueError:
                continue
    return None


@guarded(list)
def failures(code: types.CodeType) -> list[str]:
    """Returns PyTorch's reasons for all recompilations of a function, in their order."""
    known = private.get("torch._dynamo.utils:guard_failures") or {}
    return [str(failure) for failure in known.get(code, ())]


def seen_by_dynamo(code: types.CodeType) -> bool:
    """True if Dynamo has tried to compile the code since the last `torch._dynamo.reset`."""
    return any(seen is code for seen in dynamo.seen_codes())


def has_skip_reasons() -> bool:
    """True if this release of PyTorch is expected to report the rule by which Dynamo skips a function."""
    return private.expected("torch._dynamo.trace_rules:check_verbose")


@guarded()
def skip_reason(code: types.CodeType) -> str | None:
    """Returns the rule by which Dynamo skips a function; None if Dynamo does not skip the function."""
    verdict = private.call("torch._dynamo.trace_rules:check_verbose", code)
    return str(verdict.reason) if verdict is not None and verdict.skipped else None
