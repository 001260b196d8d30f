"""Finds the cache entry that Dynamo would use for a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from depyf.compat import cache
from depyf.toolkit.checking import GuardReport, check
from depyf.toolkit.target import Target

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry

_FEW = 3
"""The number of refusing entries that the `repr` of a `Dispatch` lists."""


@dataclass(frozen=True)
class Dispatch:
    """States what Dynamo would do for a call of a function under `torch.compile`."""

    name: str
    entry: CacheEntry | None = field(repr=False)
    """The first entry that accepts the call, and whose code would run; None if no entry accepts the call."""
    action: str
    """A phrase that begins with "would run the", "would compile", "would run without compiling" or "would raise"."""
    refused: list[tuple[CacheEntry, GuardReport | str]] = field(repr=False)
    """The entries that Dynamo tries before `entry`, each with the report on its guards, or with the reason why its
    guards are not checked."""

    def __repr__(self) -> str:
        """Returns a text of a few lines, which is short enough for the prompt of a debugger."""
        lines = [f"{self.name}: {self.action}"]
        for entry, why in self.refused[:_FEW]:
            lines.append(f"entry {entry.compile_id or entry.kind}: {why}" if isinstance(why, str) else repr(why))
        left = len(self.refused) - _FEW
        return "\n".join([*lines, f"and {left} more entries refuse: print shows them"] if left > 0 else lines)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.action}"]
        for entry, why in self.refused:
            if isinstance(why, str):
                lines.append(f"entry {entry.compile_id or entry.kind} of {self.name}: {why}")
            else:
                lines.append(str(why))
        return "\n".join(lines)


def dispatch_among(
    target: Target,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    entries_of: Callable[[Target], list[CacheEntry]],
    otherwise: str | None = None,
) -> Dispatch:
    """Returns the entry that Dynamo would use for a call of a function, and why each entry before it refuses the call.

    Args:
        entries_of: returns the entries of the function, in the order in which Dynamo tries them.
        otherwise: states what happens if no entry accepts the call, such as "would raise"; the stance `force_eager` is
            then ignored. By default, the result states what Dynamo would do.
    """
    L = target.bind(args, kwargs)
    refused: list[tuple[CacheEntry, GuardReport | str]] = []
    stance = cache.stance()
    if stance == "force_eager" and otherwise is None:
        return Dispatch(target.name, None, "would run without compiling: the stance is force_eager", [])
    entries = entries_of(target)
    for entry in entries:
        if entry.kind == "ordinary" and not cache.same_backend(entry.backend, target.backend):
            refused.append((entry, "compiled by a different backend"))
            continue
        report = check(entry, L, (args, kwargs))
        if report:
            which = f" {entry.compile_id}" if entry.compile_id else ""
            return Dispatch(target.name, entry, f"would run the {entry.kind} entry{which}", refused)
        refused.append((entry, report))
    return Dispatch(target.name, None, otherwise or _without_entry(stance, entries), refused)


def _without_entry(stance: str, entries: list[CacheEntry]) -> str:
    if stance == "eager_on_recompile" or stance == "eager_then_compile":
        return f"would run without compiling: the stance is {stance}"
    if stance == "fail_on_recompile":
        return "would raise: the stance is fail_on_recompile"
    limit = cache.recompile_limit()
    count = sum(entry.kind == "ordinary" for entry in entries)
    if limit is not None and count >= limit:
        return f"would run without compiling: {count} entries are the limit (torch._dynamo.config.recompile_limit)"
    return "would compile"
