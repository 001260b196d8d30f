"""The guards of a compilation, as depyf reads them."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from depyf.compat import guard_reads
from depyf.source_line import Line

UNREADABLE = "<cannot be read>"


@dataclass
class Guard:
    """One condition of a compilation, or a few that Dynamo checks as one."""

    kind: str
    """The class of the leaf guard in PyTorch, `TENSOR_MATCH`; "REACHABLE" where a value needs only to be there, and
    "DICT_SIZE" for what a guard on the order of a dict's keys asks besides."""
    text: str
    """In Dynamo's words."""
    source: str
    """Dynamo's name for the value, `L['x']`; "" for the state of the process."""
    value: str | None
    """The expression, over `L` and `G`, for the value that it reads; None if there is no such expression."""
    conditions: tuple[str, ...] = ()
    """What must hold: expressions over `L`, `G` and `torch`. None of them where `live` decides."""
    line: Line | None = None
    hint: str = ""
    """Dynamo's own addition, such as the type that was expected."""
    above: tuple[str, ...] = ()
    """Dynamo's names for the values on the way to this one, itself last: `L['self']`, `L['self'].layers`, ..."""
    key_of: str = ""
    """Of a guard on a key of a dict at a position: Dynamo's name for the dict."""
    members: tuple[str, ...] = ()
    """Of a guard that relates values: Dynamo's names for all of them."""
    live: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] | None = field(default=None, repr=False)
    """PyTorch's own check, for a guard that has no Python form; given `L` and `G`."""
    quiet: bool = True
    """Is it checked past every `__torch_function__`? Only those on the state of the process are not."""

    @property
    def expression(self) -> str | None:
        """The condition as one Python expression over `L`, `G` and `torch`; None if it has no such form."""
        if not self.conditions:
            return None
        if len(self.conditions) == 1:
            return self.conditions[0]
        return " and ".join(_in_parentheses(condition) for condition in self.conditions)

    @property
    def is_relational(self) -> bool:
        """True if the guard relates several values."""
        return bool(self.members)

    def check(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> bool:
        """Does it hold for these local and global variables? A guard that raises does not hold, as in PyTorch."""
        try:
            if self.live is not None:
                return bool(self.live(L, G))
            names = _names(L, G)
            with self.reading():
                return all(eval(_compiled(condition), names) for condition in self.conditions)
        except Exception:
            return False

    def failing(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> str | None:
        """Returns the first of its conditions that does not hold, or its words where it has none; None if it holds."""
        return self._failing(L, G, _names(L, G))

    def all_failing(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> list[str]:
        """Returns every one of its conditions that does not hold, or its words where it has none; a condition that
        raises does not."""
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
        """Returns the value that it reads.

        Raises:
            Exception: whatever reading it raises: it is not there.
            LookupError: there is no expression for it.
        """
        if self.value is None:
            raise LookupError(f"no expression is known for {self.source}")
        with self.reading():
            return evaluated(self.value, L, G)

    def reading(self) -> contextlib.AbstractContextManager[Any]:
        """Returns the state of the process in which PyTorch reads values for this guard."""
        return guard_reads.quiet() if self.quiet else contextlib.nullcontext()


@functools.lru_cache(maxsize=4096)  # the entries of a function have most conditions in common
def _compiled(expression: str) -> types.CodeType:
    return compile(expression, "<guard>", "eval", dont_inherit=True)


def evaluated(expression: str, L: Mapping[str, Any], G: Mapping[str, Any]) -> Any:
    """Returns the value of an expression over `L`, `G` and torch."""
    return eval(_compiled(expression), _names(L, G))


def _names(L: Mapping[str, Any], G: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what expressions may name."""
    import torch

    return {"torch": torch, "L": L, "G": G}


def _in_parentheses(condition: str) -> str:
    return f"({condition})" if any(word in condition for word in (" or ", " if ", "lambda")) else condition


@dataclass
class Verdict:
    """The verdict of guards on local and global variables."""

    failing: list[tuple[Guard, str]]
    """The guards that do not hold, in the order in which they are checked, each with the condition that fails."""

    def __bool__(self) -> bool:
        return not self.failing


@dataclass
class Guards(Sequence[Guard]):
    """The guards of one compilation, in the order in which they are checked."""

    guards: list[Guard]
    tree: Any = field(default=None, repr=False)
    """PyTorch's objects, which `live` calls; None in a record that was read from a file."""

    def check(self, L: Mapping[str, Any], G: Mapping[str, Any]) -> Verdict:
        """Returns every guard that does not hold for these local and global variables, not only the first."""
        names = _names(L, G)
        failing = [(guard, text) for guard in self.guards if (text := guard._failing(L, G, names)) is not None]
        return Verdict(failing)

    def recorded(self) -> Guards:
        """Returns the same without PyTorch's objects: what `live` decided can be read, and no longer be checked."""
        return Guards([guard if guard.live is None else replace(guard, live=_not_recorded) for guard in self.guards])

    def __getitem__(self, index: Any) -> Any:
        return self.guards[index]

    def __len__(self) -> int:
        return len(self.guards)

    def __iter__(self) -> Iterator[Guard]:
        return iter(self.guards)


def _not_recorded(L: Mapping[str, Any], G: Mapping[str, Any]) -> bool:
    raise LookupError("PyTorch's object for this guard is not part of the record")
