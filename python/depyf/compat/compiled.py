"""What `torch.compile` leaves behind: its settings, the graphs that compiled functions hold, reasons, skip rules.

Relied on: `_dynamic` of the context that a wrapper holds (in `dynamo_ctx`, or in a cell of its closure); a cache entry's
`backend`, and its `compiler_name`; `_torchdynamo_orig_callable`, `__wrapped__`, `__self__` and closures, which lead from
a compiled function to a graph module where the backend keeps one; `torch._dynamo.utils.guard_failures`;
`convert_frame.input_codes`. What is missing is not told.
"""

from __future__ import annotations

import types
from typing import Any

from depyf.compat import dynamo


def dynamic_of(wrapper: Any) -> bool | None:
    """The `dynamic` that a result of `torch.compile` was made with; None also where it is not known."""
    candidates = [getattr(wrapper, "dynamo_ctx", None)]
    for cell in getattr(wrapper, "__closure__", None) or ():
        try:
            candidates.append(cell.cell_contents)
        except ValueError:
            continue
    for one in candidates:
        value = getattr(one, "_dynamic", None)
        if type(value) is bool:
            return value
    return None


def backend_name(backend: Any) -> str:
    """A backend's name as the user knows it; "" if it is not known."""
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


def graph_text(compiled: Any) -> str | None:
    """The source of the graph behind a `__compiled_fn_N`, where the backend keeps the graph; None where it does not."""
    import torch

    todo, seen = [(compiled, 0)], set()
    while todo:
        one, depth = todo.pop(0)
        if id(one) in seen or depth > 4:
            continue
        seen.add(id(one))
        if isinstance(one, torch.fx.GraphModule):
            text = one.print_readable(print_output=False, include_stride=True, include_device=True)
            return str(text)
        for name in ("_torchdynamo_orig_callable", "__wrapped__", "__self__"):
            inner = getattr(one, name, None)
            if inner is not None and not isinstance(inner, types.ModuleType):
                todo.append((inner, depth + 1))
        for cell in getattr(one, "__closure__", None) or ():
            try:
                todo.append((cell.cell_contents, depth + 1))
            except ValueError:
                continue
    return None


def failures(code: types.CodeType) -> list[str]:
    """PyTorch's reasons for the compilations of a function after its first, all in one list, in their order."""
    try:
        from torch._dynamo.utils import guard_failures
    except ImportError:
        return []
    return [str(one) for one in guard_failures.get(code, ())]


def seen_by_dynamo(code: types.CodeType) -> bool:
    """Has Dynamo tried to compile it since the last reset?"""
    tracker = getattr(dynamo.convert_frame(), "input_codes", None)
    return any(reference() is code for reference in list(getattr(tracker, "seen", ())))


def skip_reason(code: types.CodeType) -> str | None:
    """The rule by which Dynamo leaves a function alone; None if there is none."""
    try:
        from torch._dynamo import trace_rules

        found = trace_rules.check_verbose(code)
    except Exception:
        return None
    return str(found.reason) if getattr(found, "skipped", False) else None
