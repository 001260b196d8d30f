"""The guards of a compilation, as depyf reads them."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from depyf.compat import guard_reads
from depyf.source_line import Line

UNREADABLE = "<cannot be read>"


@dataclass
class Guard:
    """A condition of a compilation, or a few conditions that Dynamo checks together."""

    kind: str
    """The class of the guard in PyTorch, such as `TENSOR_MATCH`. "REACHABLE" stands for the condition that a value
    exists, and "DICT_SIZE" for the condition on the size of a dict that PyTorch checks together with the order of the
    keys."""
    text: str
    """The text in which Dynamo describes the guard."""
    source: str
    """Dynamo's name for the value that the guard checks, such as `L['x']`; "" if the guard checks the state of the
    process."""
    value: str | None
    """The expression over `L` and `G` for the value that the guard reads; None if there is no such expression."""
    conditions: tuple[str, ...] = ()
    """The conditions that must hold, as expressions over `L`, `G` and `torch`; empty if the guard has no Python form,
    so that only PyTorch's own check, `live`, can evaluate the guard."""
    line: Line | None = None
    hint: str = ""
    """A note that Dynamo added to the text of the guard, such as the expected type."""
    above: tuple[str, ...] = ()
    """Dynamo's names for the values on the path to the guarded value, which is the last one: for example `L['self']`
    and `L['self'].layers`."""
    key_of: str = ""
    """Dynamo's name for a dict, if the guard checks which key this dict has at one position; "" for every other
    guard."""
    members: tuple[str, ...] = ()
    """Dynamo's names for all values that the guard relates to each other; empty if the guard checks a single value."""
    live: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] | None = field(default=None, repr=False)
    """PyTorch's own check with the parameters `L` and `G`, for a guard that has no Python form."""
    quiet: bool = True
    """True if the check ignores every `__torch_function__`; false only for guards on the state of the process."""

    @property
    def expression(self) -> str | None:
        """The condition as one Python expression over `L`, `G` and `torch`; None if the guard cannot be written as
        Python."""
        if not self.conditions:
            return None
        if len(self.conditions) == 1:
            return self.conditions[0]
        return " and ".join(_in_parentheses(condition) for condition in self.conditions)

    @property
    def is_relational(self) -> bool:
        """True if the guard relates several values to each other, such as "x is y"."""
        return bool(self.members)

    def check(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> bool:
        """True if the guard holds for the local variables `L` and the global variables `G`. As in PyTorch, a guard that
        raises an exception does not hold."""
        try:
            if self.live is not None:
                return bool(self.live(L, G))
            names = _names(L, G)
            with self.reading():
                return all(eval(_compiled(condition), names) for condition in self.conditions)
        except Exception:
            return False

    def failing(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> str | None:
        """Returns the first condition that does not hold, or the guard's text if the guard has no conditions; None if
        the guard holds."""
        return self._failing(L, G, _names(L, G))

    def all_failing(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> list[str]:
        """Returns all conditions that do not hold, or the guard's text if the guard has no conditions. A condition that
        raises an exception does not hold."""
        if self.live is not None:
            return [] if self.check(L, G) else [self.text]
        names, failing = _names(L, G), []
        with self.reading():
            for condition in self.conditions:
                try:
                    holds = bool(eval(_compiled(condition), names))
                except Exception:
                    holds = False
                if not holds:
                    failing.append(condition)
        return failing

    def _failing(self, L: Mapping[str, Any], G: Mapping[str, Any], names: dict[str, Any]) -> str | None:
        if self.live is not None:
            return None if self.check(L, G) else self.text
        with self.reading():
            for condition in self.conditions:
                try:
                    holds = eval(_compiled(condition), names)
                except Exception:
                    holds = False
                if not holds:
                    return condition
        return None

    def read(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> Any:
        """Returns the value that the guard reads.

        Raises:
            Exception: the value does not exist; the exception is the one that reading the value raises.
            LookupError: the guard has no expression for the value.
        """
        if self.value is None:
            raise LookupError(f"no expression is known for {self.source}")
        with self.reading():
            return evaluated(self.value, L, G)

    def reading(self) -> contextlib.AbstractContextManager[Any]:
        """Returns a context manager in which values are read as PyTorch reads them for this guard: if `quiet` is set,
        without any `__torch_function__`."""
        return guard_reads.quiet() if self.quiet else contextlib.nullcontext()


@functools.lru_cache(maxsize=4096)  # The entries of a function have most conditions in common.
def _compiled(expression: str) -> types.CodeType:
    return compile(expression, "<guard>", "eval", dont_inherit=True)


def evaluated(expression: str, L: Mapping[str, Any], G: Mapping[str, Any]) -> Any:
    """Returns the value of an expression over `L`, `G` and torch."""
    return eval(_compiled(expression), _names(L, G))


def _names(L: Mapping[str, Any], G: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the names that the expressions of guards can use, each with its value."""
    import torch

    return {"torch": torch, "L": L, "G": G}


def _in_parentheses(condition: str) -> str:
    return f"({condition})" if any(word in condition for word in (" or ", " if ", "lambda")) else condition


def rows(guards: Iterable[Guard]) -> list[tuple[object, ...]]:
    """Returns guards as tuples, in the form in which the C++ core reads them."""
    return [
        (
            guard.kind,
            guard.text,
            guard.source,
            guard.value or "",
            guard.conditions,
            guard.members,
            guard.live is not None,
            guard.quiet,
            guard.line is not None,
        )
        for guard in guards
    ]


@dataclass
class Verdict:
    """The verdict of guards on local and global variables, which is true if all guards hold."""

    failing: list[tuple[Guard, str]]
    """The guards that do not hold, in the order in which they are checked, each with the condition that fails."""

    def __bool__(self) -> bool:
        return not self.failing


@dataclass
class Guards(Sequence[Guard]):
    """The guards of one compilation, in the order in which they are checked."""

    guards: list[Guard]
    tree: Any = field(default=None, repr=False)
    """PyTorch's tree of guards, which `Guard.live` calls; None in a record without PyTorch's objects."""

    def check(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> Verdict:
        """Returns a `Verdict` with every guard that does not hold for the local variables `L` and the global variables
        `G`, not only the first one."""
        names = _names(L, G)
        failing = [(guard, text) for guard in self.guards if (text := guard._failing(L, G, names)) is not None]
        return Verdict(failing)

    def recorded(self) -> Guards:
        """Returns copies of the guards without PyTorch's objects. A copied guard that has no Python form can be
        displayed, but not checked, because its check needs PyTorch's object."""
        return Guards([guard if guard.live is None else replace(guard, live=_not_recorded) for guard in self.guards])

    def __getitem__(self, index: Any) -> Any:
        return self.guards[index]

    def __len__(self) -> int:
        return len(self.guards)

    def __iter__(self) -> Iterator[Guard]:
        return iter(self.guards)


def _not_recorded(L: Mapping[str, Any], G: Mapping[str, Any]) -> bool:
    raise LookupError("PyTorch's object for this guard is not part of the record")
