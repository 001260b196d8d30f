"""The one way to the private names that `depyf.compat.names` lists.

What is missing, raises, or is of another type than the name's row says is a loss: it is told once, by the name, and
depyf goes on with what stands in its place. A name that this release is known to lack is no loss.
"""

from __future__ import annotations

import functools
import importlib
import linecache
import re
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

from depyf import report
from depyf.compat import releases
from depyf.compat.names import FEATURES, NAMES, Name
from depyf.compat.releases import Release

F = TypeVar("F", bound=Callable[..., Any])
ABSENT: Any = object()
"""What stands for something that is not there."""

_BY_PATH = {name.path: name for name in NAMES}
_BY_LAST: dict[str, list[Name]] = {}
for _name in NAMES:
    _BY_LAST.setdefault(re.sub(r".*\[(\w+)\]$", r"\1", _name.last), []).append(_name)
_TITLES = {feature.key: feature for feature in FEATURES}
_HERE = __file__.rpartition("private.py")[0]
_WORD = re.compile(r"\w+")

losses: dict[str, str] = {}
"""Path of a name -> what is wrong with it, in this process."""


class Unexpected(Exception):
    """A private name is not as expected."""

    def __init__(self, name: Name, how: str) -> None:
        super().__init__(f"{name.path} {how}")
        self.name, self.how = name, how


def get(path: str) -> Any:
    """What a path leads to; None if it is not there, or not what it should be."""
    name = _BY_PATH[path]
    try:
        seen = _seen.get(path)
        return seen[-1] if seen is not None and _leads_over(name, seen) else look_up(name)
    except Unexpected as error:
        lost(error.name, error.how)
        return None


_seen: dict[str, tuple[Any, ...]] = {}
"""Path of a function -> the module and all that the way from there led over, found to be right."""


def _leads_over(name: Name, seen: tuple[Any, ...]) -> bool:
    """Does a path still lead over the same objects?"""
    value = sys.modules.get(name.module)
    if value is not seen[0]:
        return False
    try:
        for part, seen_value in zip(name.parts, seen[1:], strict=True):
            value = getattr(value, part)
            if value is not seen_value:
                return False
    except Exception:
        return False
    return True


def look_up(name: Name) -> Any:
    """What a path leads to; None if its module is not loaded and must not be for its sake.

    Raises:
        Unexpected: it is not there, or not what it should be.
    """
    value: Any = sys.modules.get(name.module)
    if value is None:
        if name.lazy:
            return None
        try:
            value = importlib.import_module(name.module)
        except Exception as error:
            raise Unexpected(name, f"cannot be imported: {error}") from None
    seen = [value]
    for part, row in _way(name.path):
        try:
            value = getattr(value, part)
        except Exception as error:
            # The owner is to blame where it is a name of its own.
            raise Unexpected(row or name, in_words(error)) from None
        if row is not None:
            _check_type(row, value)
        seen.append(value)
    if name.takes is not None:
        _seen[name.path] = tuple(seen)
    return value


@functools.cache
def _way(path: str) -> list[tuple[str, Name | None]]:
    """The attributes that lead to a name, each with its row if it has one."""
    name = _BY_PATH[path]
    ways = [f"{name.module}:{'.'.join(name.parts[: i + 1])}" for i in range(len(name.parts))]
    return [(part, _BY_PATH.get(way)) for part, way in zip(name.parts, ways, strict=True)]


def module_of(path: str) -> Any:
    """The module that a name is in; None if the name is not there. For a variable that is set."""
    name = _BY_PATH[path]
    try:
        look_up(name)
    except Unexpected as error:
        lost(error.name, error.how)
        return None
    return sys.modules.get(name.module)


def call(path: str, *args: Any, otherwise: Any = None, **kwargs: Any) -> Any:
    """What a function gives; `otherwise` if it is not there, raises, or gives another type than its row says."""
    name = _BY_PATH[path]
    function = get(path)
    if function is None:
        return otherwise
    try:
        result = function(*args, **kwargs)
        if name.gives:
            _check_result(name, result)
    except Exception as error:
        lost(name, in_words(error))
        return otherwise
    return result


def of(owner: Any, path: str, otherwise: Any = None) -> Any:
    """An attribute of an object; `otherwise` if it is not there, raises, or is of another type than its row says."""
    name = _BY_PATH[path]
    try:
        value = getattr(owner, name.last)
        if type(value).__name__ not in name.types:
            _check_result(name, value)
    except Exception as error:
        lost(name, in_words(error))
        return otherwise
    return value


def item(table: Any, path: str, otherwise: Any = None) -> Any:
    """What a dict of an object has under a key; `otherwise` if it has not, or if that is of another type than its row says."""
    name = _BY_PATH[path]
    try:
        value = table.get(name.key)
        if value is None:
            return otherwise
        if type(value).__name__ not in name.types:
            _check_result(name, value)
    except Exception as error:
        lost(name, in_words(error))
        return otherwise
    return value


def checked(path: str, value: Any) -> Any:
    """A value that a name gave, for what is `guarded`.

    Raises:
        Unexpected: it is of another type than the name's row says.
    """
    name = _BY_PATH[path]
    if type(value).__name__ not in name.types:
        _check_result(name, value)
    return value


def guarded(otherwise: Any = None, *, raises: tuple[type[Exception], ...] = ()) -> Callable[[F], F]:
    """For a function that reads objects of PyTorch: where that raises, the name that it failed at is a loss.

    Args:
        otherwise: what the function gives then; of a class, a new instance.
        raises: exceptions that are meant for the caller.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def safe(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except raises:
                raise
            except Exception as error:
                blame(error, function.__code__)
                return otherwise() if isinstance(otherwise, type) else otherwise

        return safe  # type: ignore[return-value]

    return decorate


def not_found(path: str, how: str = "is not there") -> None:
    """Tells once that a name is not as expected, for names that can only be noticed where they are used."""
    lost(_BY_PATH[path], how)


def expected(path: str) -> bool:
    """Should the PyTorch that is here have a name? None should if there is no PyTorch."""
    version = releases.installed()
    return version is not None and _BY_PATH[path].expected(Release.of(version))


def lost(name: Name, how: str) -> None:
    """Tells once that a name is not as expected, unless this release is known to lack it or there is no PyTorch at all."""
    if name.path in losses:
        return
    losses[name.path] = how
    if not expected(name.path):
        return
    version = releases.installed()
    instead = name.fallback or _TITLES[name.feature].lost
    report.warn(
        f"depyf: {name.path} of PyTorch {version} {how}. It is for: {_TITLES[name.feature].title}. Without it: {instead}. "
        "The program is not affected. `python -m depyf doctor` tells what works."
    )


def blame(error: Exception, code: types.CodeType | None = None) -> None:
    """Tells of the name that an exception came from."""
    if isinstance(error, Unexpected):
        lost(error.name, error.how)
        return
    candidates = _candidates(error, code)
    name = next((candidate for candidate in candidates if _is_wrong(candidate)), candidates[0] if candidates else None)
    if name is not None:
        lost(name, in_words(error))
        return
    where = code.co_qualname if code is not None and hasattr(code, "co_qualname") else getattr(code, "co_name", "?")
    if where not in losses:
        losses[where] = in_words(error)
        report.warn(f"depyf: {where} failed: {in_words(error)}. The program is not affected.")


def _candidates(error: Exception, code: types.CodeType | None) -> list[Name]:
    """The names that an exception may come from, the likeliest first."""
    candidates = list(_BY_LAST.get(getattr(error, "name", None) or "", ())) if isinstance(error, AttributeError) else []
    traceback = error.__traceback__
    lines: list[list[str]] = []
    while traceback is not None:
        # Names in the lines of compat that the exception passed through, the innermost first; and PyTorch's functions.
        frame = traceback.tb_frame
        if frame.f_code.co_filename.startswith(_HERE) and frame.f_code.co_filename != __file__:
            text, used = linecache.getline(frame.f_code.co_filename, traceback.tb_lineno), set(_names_in(frame.f_code))
            lines.insert(0, [word for word in _WORD.findall(text) if word in used])
        traceback = traceback.tb_next
    for words in (_WORD.findall(str(error)), *lines):
        for word in words:
            candidates += _BY_LAST.get(word, ())
    for word in _names_in(code):
        candidates += _BY_LAST.get(word, ())
    return candidates


def _names_in(code: types.CodeType | None) -> list[str]:
    if code is None:
        return []
    words = [*code.co_names]
    for const in code.co_consts:
        if isinstance(const, str):
            words += _WORD.findall(const)
        elif isinstance(const, types.CodeType):
            words += _names_in(const)
    return words


def _is_wrong(name: Name) -> bool:
    from depyf.compat.probe import problem

    return problem(name) is not None


def in_words(error: Exception) -> str:
    """What is wrong with a name that raises this."""
    if isinstance(error, Unexpected):
        return error.how
    if isinstance(error, AttributeError):
        return "is not there"
    return f"raised {type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _check_type(name: Name, value: Any) -> None:
    """Raises Unexpected where what was looked up cannot be what its row says."""
    if name.takes is None:
        _check_result(name, value)
    elif _checked.get(name.path) is not (code := getattr(value, "__code__", value)):
        _check_function(name, value)
        _checked[name.path] = code


_checked: dict[str, Any] = {}
"""Path of a function -> the code, or the callable without any, that was found to be what its row says."""


def _check_function(name: Name, value: Any) -> None:
    if not callable(value):
        raise Unexpected(name, f"is no function but of type {type(value).__name__}")
    if not accepts(value, name.takes or 0):
        raise Unexpected(name, f"does not take {name.takes} arguments any more")


def _check_result(name: Name, value: Any) -> None:
    """Raises Unexpected where a value is of another type than the name's row says."""
    if not name.types:
        return
    for wanted in name.types:
        if wanted == "None" and value is None:
            return
        if any(base.__name__ == wanted for base in type(value).__mro__):
            return
    raise Unexpected(name, f"is of type {type(value).__name__}, not {name.gives.replace('|', ' or ')}")


def accepts(function: Any, count: int) -> bool:
    """Can a function be called with so many positional arguments? True also where that is not known."""
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
