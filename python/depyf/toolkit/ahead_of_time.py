"""Finds functions that were compiled ahead of time. PyTorch calls the code of these functions without Dynamo's cache,
but depyf presents the code in the form of cache entries, too."""

from __future__ import annotations

from typing import Any

from depyf.compat import ahead
from depyf.toolkit.target import Target

WOULD_RAISE = "would raise: what was compiled ahead of time compiles nothing for a call that its guards refuse"
NO_REGISTRATION = (
    "it was compiled ahead of time: PyTorch calls its code without Dynamo's cache, so that there is nothing to register it in front "
    "of. Save it with save_compiled_function, and load that"
)


def targets(fn: Any) -> list[tuple[ahead.Compiled, Target]]:
    """Returns each function behind `fn` that was compiled ahead of time, paired with a `Target` that describes the
    original function. The list is empty if no function behind `fn` was compiled ahead of time."""
    found = []
    for compiled in ahead.functions(fn):
        original = compiled.original
        function: Any = compiled.function
        if original is None or function is None:
            continue
        target = Target(
            original,
            function.__globals__,
            getattr(original, "co_qualname", original.co_name),
            function.__defaults__,
            function.__kwdefaults__,
            function.__closure__,
            args=() if compiled.model is None else (compiled.model,),
        )
        found.append((compiled, target))
    return found
