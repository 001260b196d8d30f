"""Evaluates the guards of a cache entry for a call, one by one."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from depyf.compat import cache
from depyf.guards import Guard, evaluated
from depyf.toolkit.conditions import AddedGuard

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry
    from depyf.toolkit.lookup import Dispatch

_MISSING = object()
_LONG = 200
_FEW = 5
"""The number of failing guards that the `repr` of a `GuardReport` lists, each on a line of at most `_LINE`
characters."""
_LINE = 160


@dataclass(frozen=True)
class Failure:
    """One guard that does not hold."""

    guard: Guard
    condition: str
    """The condition of the guard that does not hold, as text."""
    expected: str | None
    """The value that would satisfy the condition, as text; None if the condition is no comparison."""
    actual: str | None
    """The value that the call has in place of `expected`, as text; None if it could not be read."""
    error: Exception | None = None
    """The exception that the check raised, which counts as a failure; None if the check raised no exception."""

    def __str__(self) -> str:
        text = f"{self.guard.kind}: {self.condition}"
        if self.error is not None:
            text += f": raised {type(self.error).__name__}: {self.error}"
        elif self.expected is not None:
            text += f": expected {self.expected}, actual {self.actual}"
        elif self.actual is not None:
            text += f": actual {self.actual}"
        if self.guard.line is not None:
            text += f"  # {self.guard.line}"
        return text

    def __repr__(self) -> str:
        return f"<{' '.join(str(self).split())[:_LINE]}>"


@dataclass(frozen=True)
class GuardReport:
    """The verdict of an entry's guards on one call. `bool(report)` is true if the guards accept the call."""

    entry: CacheEntry = field(repr=False)
    accepted: bool
    failures: list[Failure]
    """All guards that do not hold for the call, in the order in which Dynamo checks them. PyTorch itself stops at the
    first guard that fails."""
    call: tuple[tuple[Any, ...], dict[str, Any]] = field(repr=False)

    def __bool__(self) -> bool:
        return self.accepted

    @property
    def would_take(self) -> Dispatch:
        """The `Dispatch` for a call with the checked arguments: the entry that Dynamo would use for it now."""
        args, kwargs = self.call
        return self.entry._dispatch(args, kwargs)

    def __str__(self) -> str:
        return "\n".join([self._head, *(f"  {failure}" for failure in self.failures)])

    def __repr__(self) -> str:
        """Returns the report as a text of a few lines, which is short enough for the prompt of a debugger. `print`
        shows every failing guard."""
        lines = [self._head]
        for failure in self.failures[:_FEW]:
            text = " ".join(str(failure).split())
            lines.append(f"  {text if len(text) <= _LINE else f'{text[:_LINE]}...'}")
        left = len(self.failures) - _FEW
        return "\n".join([*lines, f"  and {left} more: print shows them"] if left > 0 else lines)

    @property
    def _head(self) -> str:
        which = self.entry.compile_id or self.entry.kind
        head = f"entry {which} of {self.entry.target.name}"
        if self.accepted:
            return f"{head} accepts the call"
        return f"{head} refuses the call: {len(self.failures)} of {len(self.entry.guards)} guards fail"


def check(entry: CacheEntry, L: dict[str, Any], call: tuple[tuple[Any, ...], dict[str, Any]]) -> GuardReport:
    """Returns a report that states whether the guards of an entry accept a frame with the locals `L`, and which guards
    fail. If evaluating the guards in Python disagrees with PyTorch's own verdict, PyTorch's verdict counts."""
    G = entry.target.globals
    manager = entry.tree if _is_as_dynamo_made(entry) else entry.manager()
    accepted = cache.accepts(manager, L)
    failures = (
        []
        if accepted
        else [guard_failure for guard in entry.guards if (guard_failure := failure(guard, L, G)) is not None]
    )
    if not accepted and not failures:
        text = "; ".join(cache.first_failure(manager, L)) or "PyTorch does not say which guard fails"
        failures = [Failure(Guard("GUARD", text, "", None), text, None, None)]
    return GuardReport(entry, accepted, failures, call)


def _is_as_dynamo_made(entry: CacheEntry) -> bool:
    same = len(entry.guards) == len(entry.native)
    return entry.tree is not None and same and all(a is b for a, b in zip(entry.guards, entry.native))


def failure(guard: Guard, L: dict[str, Any], G: dict[str, Any]) -> Failure | None:
    """Returns the failure of a guard; None if the guard holds."""
    condition = guard.failing(L, G)
    if condition is None:
        return None
    if isinstance(guard, AddedGuard) and guard.error is not None:
        return Failure(guard, condition, None, None, guard.error)
    expected, actual, error = _compared(guard, condition, L, G)
    if actual is None and error is None and guard.value is not None:
        try:
            actual = shown(guard.read(L, G))
        except Exception as raised:
            error = raised
    return Failure(guard, condition, expected, actual, error)


def _compared(
    guard: Guard, condition: str, L: dict[str, Any], G: dict[str, Any]
) -> tuple[str | None, str | None, Exception | None]:
    """Returns a tuple (expected, actual, exception) for a failing condition that compares two values. `expected` is the
    right side of the comparison and `actual` the left side, both as texts. If a side of the comparison cannot be
    evaluated, both texts are None, and `exception` is the exception that was raised."""
    if condition not in guard.conditions:
        return None, None, None
    try:
        tree = ast.parse(condition.strip(), mode="eval").body
    except SyntaxError:
        return None, None, None
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1:
        return None, None, None
    values = []
    for side in (tree.comparators[0], tree.left):
        try:
            with guard.reading():
                values.append(shown(evaluated(ast.unparse(side), L, G)))
        except Exception as raised:
            return None, None, raised
    expected = values[0]
    if not isinstance(tree.ops[0], (ast.Eq, ast.Is)):
        expected = f"{_WORDS.get(type(tree.ops[0]), 'otherwise')} {expected}"
    return expected, values[1], None


_WORDS: dict[type, str] = {
    ast.NotEq: "not",
    ast.IsNot: "not",
    ast.In: "one of",
    ast.NotIn: "none of",
    ast.Lt: "less than",
    ast.LtE: "at most",
    ast.Gt: "more than",
    ast.GtE: "at least",
}


def shown(value: object) -> str:
    """Returns a value as one line of text. For a tensor, the text states the properties that guards check."""
    kind = type(value)
    try:
        import torch

        if isinstance(value, torch.Tensor):
            stride = tuple(value.stride()) if value.layout == torch.strided else "none"
            return (
                f"{kind.__name__}(dtype={value.dtype}, device={value.device}, size={tuple(value.size())}, "
                f"stride={stride}, requires_grad={value.requires_grad})"
            )
        text = repr(value)
    except Exception as error:
        return f"<{kind.__name__}, whose repr raised {type(error).__name__}>"
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."
