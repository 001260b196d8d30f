"""Looks private names up, and checks that they are as their rows in `depyf.compat.names` state.

`depyf.compat.private` looks private names up for the rest of depyf, and records the names that are lost;
`depyf.compat.probe` derives the state of depyf's features.
"""

from __future__ import annotations

import functools
import importlib
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

from depyf.compat.names import NAMES, Name

BY_PATH = {name.path: name for name in NAMES}


class Unexpected(Exception):
    """Raised if a private name is not as expected."""

    def __init__(self, name: Name, how: str) -> None:
        super().__init__(f"{name.path} {how}")
        self.name, self.how = name, how


Lookup = tuple[Callable[[Any], Any], Any]
"""A pair: a function that follows the path of a private name, from the name's module to an object; and the object to
which the path led when it was checked."""

lookups: dict[str, Lookup] = {}
"""Maps the path of a name to the last lookup that found the name as expected. Nothing clears `lookups`, because
`is_current` checks each entry before the entry is used. `lookups` has no lock, as each write is one assignment; a
forked child continues with its copy."""


def is_current(name: Name, lookup: Lookup) -> bool:
    """True if the path of a private name still leads to the object that was checked earlier."""
    follow, checked = lookup
    try:
        return follow(sys.modules[name.module]) is checked
    except Exception:
        return False


def look_up(name: Name) -> Any:
    """Returns the object that a path leads to; None if the module is not loaded and the name is `lazy`.

    Raises:
        Unexpected: the object is absent, or is not as the row of the name states.
    """
    value: Any = sys.modules.get(name.module)
    if value is None:
        if name.lazy:
            return None
        try:
            value = importlib.import_module(name.module)
        except Exception as error:
            raise Unexpected(name, f"cannot be imported: {error}") from None
    for part, row in _way(name.path):
        try:
            value = getattr(value, part)
        except Exception as error:
            # If the missing part of the path has a row of its own in `NAMES`, the error reports that row.
            raise Unexpected(row or name, in_words(error)) from None
        if row is not None:
            _check_type(row, value)
    if name.takes is not None:
        lookups[name.path] = operator.attrgetter(".".join(name.parts)), value
    return value


@functools.cache
def _way(path: str) -> list[tuple[str, Name | None]]:
    """Returns the attributes on the path to a name, each with its row in `NAMES` if it has one."""
    name = BY_PATH[path]
    ways = [f"{name.module}:{'.'.join(name.parts[: i + 1])}" for i in range(len(name.parts))]
    return [(part, BY_PATH.get(way)) for part, way in zip(name.parts, ways, strict=True)]


def in_words(error: Exception) -> str:
    """Returns the end of a sentence that begins with the name whose lookup or use raised this exception."""
    if isinstance(error, Unexpected):
        return error.how
    if isinstance(error, AttributeError):
        return "is not there"
    return f"raised {type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _check_type(name: Name, value: Any) -> None:
    """Raises Unexpected if an object that was looked up is not as the row of its name states."""
    if name.takes is None:
        check_result(name, value)
    elif _checked.get(name.path) is not (code := getattr(value, "__code__", value)):
        _check_function(name, value)
        _checked[name.path] = code


_checked: dict[str, Any] = {}
"""Maps the path of a function to its code (or to the callable if it has no code), which was checked against the
function's row in NAMES. Nothing clears `_checked`, because an entry is compared with the current code before the entry
is used. `_checked` has no lock, as each write is one assignment; a forked child continues with its copy."""


def _check_function(name: Name, value: Any) -> None:
    if not callable(value):
        raise Unexpected(name, f"is not a function, but of type {type(value).__name__}")
    if not accepts(value, name.takes or 0):
        raise Unexpected(name, f"does not take {name.takes} arguments any longer")


def check_result(name: Name, value: Any) -> None:
    """Raises Unexpected if a value has another type than the row of the name states."""
    if not name.types:
        return
    for wanted in name.types:
        if wanted == "None" and value is None:
            return
        if any(base.__name__ == wanted for base in type(value).__mro__):
            return
    raise Unexpected(name, f"is of type {type(value).__name__}, not {name.gives.replace('|', ' or ')}")


def accepts(function: Any, count: int) -> bool:
    """True if a function accepts `count` positional arguments, and also if its parameters are unknown."""
    bound = 0
    if isinstance(function, types.MethodType):
        function, bound = function.__func__, 1
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType) or not isinstance(function, types.FunctionType):
        return True
    given = count + bound
    defaults = len(function.__defaults__ or ())
    needed_by_keyword = set(code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]) - set(
        function.__kwdefaults__ or ()
    )
    most = code.co_argcount if not code.co_flags & 4 else given  # CO_VARARGS
    return code.co_argcount - defaults <= given <= most and not needed_by_keyword


def problem(name: Name) -> str | None:
    """Returns what is wrong with a private name; None if nothing is wrong, or if only the use of the name could show a
    problem."""
    try:
        return _problem(name)
    except Unexpected as error:
        return error.how if error.name is name else None  # The row of the wrong name reports the error.
    except Exception as error:  # The lookup itself failed.
        return in_words(error)


def _problem(name: Name) -> str | None:
    if name.kind == "":
        look_up(name)
    if name.kind == "attribute" and ":" in name.path:
        return _attribute_problem(name)
    if name.kind == "local":
        return _local_problem(name)
    return None


def _owner(name: Name) -> Any:
    """Returns the object that has the name as an attribute; None if the object is absent or its module is not
    loaded."""
    owner: Any = sys.modules.get(name.module)
    for part in name.parts[:-1]:
        owner = getattr(owner, part, None)
    return owner


def _attribute_problem(name: Name) -> str | None:
    owner = _owner(name)
    if not isinstance(owner, type):
        return None  # The class's own row in NAMES reports that the class is absent, unless this release renames it.
    if any(name.last in vars(base) for base in owner.__mro__):
        return None if hasattr(owner, name.last) else "is not there"
    if any(name.last in vars(base).get("__annotations__", ()) for base in owner.__mro__):
        return None
    codes = [
        member.__code__
        for base in owner.__mro__
        for member in vars(base).values()
        if isinstance(member, types.FunctionType)
    ]
    return None if any(name.last in code.co_names for code in codes) else "is not there"


def _local_problem(name: Name) -> str | None:
    owner = _owner(name)
    if isinstance(owner, types.FunctionType):
        code = owner.__code__
        return None if name.last in (*code.co_varnames, *code.co_cellvars, *code.co_freevars) else "is not there"
    if isinstance(owner, types.ModuleType):
        for member in list(vars(owner).values()):
            if isinstance(member, types.FunctionType) and name.last in (
                *member.__code__.co_varnames,
                *member.__code__.co_cellvars,
            ):
                return None
        return "is not there"
    return None
