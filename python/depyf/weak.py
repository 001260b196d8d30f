"""Tables whose keys are objects: a table distinguishes its keys by identity, and does not keep them alive.

Keys are not compared by `==`, because code objects compare their constants, which can run any code, and guard managers
cannot be compared. Keys are not identified by their `id` alone, because Python reuses the id of an object that was
freed.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

__all__ = ["NOTHING", "Forget", "Numbers", "Reference", "Table", "reference"]

V = TypeVar("V")
Reference = Callable[[], Any]
"""A function that returns an object; None if the object was freed."""


def NOTHING() -> None:
    """A `Reference` to no object: a call of it returns None."""


def reference(value: Any, gone: Callable[[Any], None] | None = None) -> Reference:
    """Returns a weak reference to an object; a strong one if the object does not support weak references.

    Args:
        gone: the function that is called with the reference when the object is freed.
    """
    try:
        return weakref.ref(value, gone)
    except TypeError:
        return lambda: value


class Forget:
    """Removes the entry of a freed object from a table.

    The callback runs wherever the object is freed, even during a compiled call of the user's, so Dynamo must not
    compile the callback.
    """

    __slots__ = ("_key", "_table")

    def __init__(self, table: Table[Any], key: int) -> None:
        # A table that referred to itself through its callbacks could be freed only by the garbage collector.
        self._table = weakref.ref(table)
        self._key = key

    def __call__(self, gone: Any) -> None:
        table = self._table()
        entry = None if table is None else table._entries.get(self._key)
        if table is not None and entry is not None and entry[0] is gone:
            del table._entries[self._key]


class Table(Generic[V]):
    """A mapping from objects to values. The table releases the value of an object as soon as the object is freed.

    A value must not refer to its own key, because the value would keep the key alive.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Reference, V]] = {}

    def get(self, key: Any) -> V | None:
        """Returns the value of an object; None if the object has no value."""
        entry = self._entries.get(id(key))
        return entry[1] if entry is not None and entry[0]() is key else None

    def set(self, key: Any, value: V) -> None:
        """Sets the value of an object."""
        number = id(key)
        self._entries[number] = reference(key, Forget(self, number)), value

    def pop(self, key: Any) -> None:
        """Removes the value of an object, if the object has a value."""
        if key in self:
            del self._entries[id(key)]

    def clear(self) -> None:
        """Removes all values."""
        self._entries.clear()

    def items(self) -> Iterator[tuple[Any, V]]:
        """Yields the living objects with their values, in the order in which they were added."""
        for refers, value in list(self._entries.values()):
            key = refers()
            if key is not None:
                yield key, value

    def __contains__(self, key: Any) -> bool:
        entry = self._entries.get(id(key))
        return entry is not None and entry[0]() is key

    def __len__(self) -> int:
        return len(self._entries)


class Numbers:
    """Assigns each object a number, which stays the same as long as the object lives, and which no other object ever
    gets."""

    def __init__(self) -> None:
        self._known: Table[int] = Table()
        self._next = itertools.count(1)

    def of(self, value: Any) -> int:
        """Returns the number of an object."""
        number = self._known.get(value)
        if number is None:
            number = next(self._next)
            self._known.set(value, number)
        return number
