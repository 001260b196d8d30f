"""The only way to use the private names that `depyf.compat.names` lists.

A private name is lost if it is missing, raises an exception, or has another type than its row in the list states. The
user is warned once about a lost name, and depyf then uses the fallback that the name's row describes. A name that the
installed release of PyTorch is known to lack does not count as lost.
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

from depyf import report
from depyf.compat import releases, shape
from depyf.compat.names import FEATURES, NAMES, Name
from depyf.compat.releases import Release
from depyf.compat.shape import Unexpected

F = TypeVar("F", bound=Callable[..., Any])
ABSENT: Any = object()
"""Represents an absent value where None is a possible value."""

_BY_LAST: dict[str, list[Name]] = {}
for _name in NAMES:
    _BY_LAST.setdefault(re.sub(r".*\[(\w+)\]$", r"\1", _name.last), []).append(_name)
_TITLES = {feature.key: feature for feature in FEATURES}
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_MACHINERY = (__file__, shape.__file__)
"""The files of `depyf.compat` that look private names up for all other files, and do not use the names themselves."""
_WORD = re.compile(r"\w+")

losses: dict[str, str] = {}
"""Maps the path of each lost private name to the reason why it is lost. Nothing clears `losses`, so that each loss is
reported once. `losses` has no lock, as each write is one assignment; a forked child continues with its copy."""


def get(path: str) -> Any:
    """Returns the object that a path leads to; None if the object is absent, or is not as its row in `names` states."""
    name = shape.BY_PATH[path]
    try:
        looked_up = shape.lookups.get(path)
        return looked_up[1] if looked_up is not None and shape.is_current(name, looked_up) else shape.look_up(name)
    except Unexpected as error:
        lost(error.name, error.how)
        return None


def module_of(path: str) -> Any:
    """Returns the module that contains a name; None if the name is absent. Callers need the module to assign a new
    value to the name."""
    name = shape.BY_PATH[path]
    try:
        shape.look_up(name)
    except Unexpected as error:
        lost(error.name, error.how)
        return None
    return sys.modules.get(name.module)


def call(path: str, *args: Any, otherwise: Any = None, **kwargs: Any) -> Any:
    """Calls a private function and returns its result; returns `otherwise` if the function is absent, raises an
    exception, or returns another type than its row in `names` states."""
    name = shape.BY_PATH[path]
    function = get(path)
    if function is None:
        return otherwise
    try:
        result = function(*args, **kwargs)
        if type(result).__name__ not in name.types:
            shape.check_result(name, result)
    except Exception as error:
        lost(name, shape.in_words(error))
        return otherwise
    return result


def of(owner: Any, path: str, otherwise: Any = None) -> Any:
    """Returns an attribute of an object; returns `otherwise` if the attribute is absent, raises an exception, or has
    another type than its row in `names` states."""
    name = shape.BY_PATH[path]
    try:
        value = getattr(owner, name.last)
        if type(value).__name__ not in name.types:
            shape.check_result(name, value)
    except Exception as error:
        lost(name, shape.in_words(error))
        return otherwise
    return value


def item(table: Any, path: str, otherwise: Any = None) -> Any:
    """Returns the value that a dict of PyTorch's has under a key. Returns `otherwise` if the dict has no value under
    the key, or if the value has another type than the row of the key states."""
    name = shape.BY_PATH[path]
    try:
        value = table.get(name.key)
        if value is None:
            return otherwise
        if type(value).__name__ not in name.types:
            shape.check_result(name, value)
    except Exception as error:
        lost(name, shape.in_words(error))
        return otherwise
    return value


def checked(path: str, value: Any) -> Any:
    """Returns `value`, which was read through the private name `path`. Only functions that are decorated with `guarded`
    call `checked`.

    Raises:
        Unexpected: `value` has another type than the name's row states.
    """
    name = shape.BY_PATH[path]
    if type(value).__name__ not in name.types:
        shape.check_result(name, value)
    return value


def guarded(otherwise: Any = None, *, raises: tuple[type[Exception], ...] = ()) -> Callable[[F], F]:
    """Decorates a function that reads objects of PyTorch: if the function raises an exception, the private name at
    which it failed is recorded as lost.

    Args:
        otherwise: the value that is returned if the function raises an exception. If `otherwise` is a class, a new
            instance of the class is returned.
        raises: the classes of exceptions that are passed on to the caller.
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
    """Records that a private name is not as expected, when a caller finds a defect that the look-up of the name does
    not detect."""
    lost(shape.BY_PATH[path], how)


def expected(path: str) -> bool:
    """True if the installed release of PyTorch is expected to have a name; False if PyTorch is not installed."""
    version = releases.installed()
    return version is not None and shape.BY_PATH[path].expected(Release.of(version))


def lost(name: Name, how: str) -> None:
    """Records that a name is not as expected. Warns once about the name, unless this release of PyTorch is known to
    lack the name, or PyTorch is not installed."""
    if name.path in losses:
        return
    losses[name.path] = how
    if not expected(name.path):
        return
    version = releases.installed()
    instead = name.fallback or _TITLES[name.feature].lost
    report.warn(
        f"depyf: {name.path} of PyTorch {version} {how}. depyf uses it for: {_TITLES[name.feature].title}. Without it: {instead}. "
        "The program is not affected. `python -m depyf doctor` reports which features work."
    )


def blame(error: Exception, code: types.CodeType | None = None) -> None:
    """Records the private name that caused an exception as lost."""
    if isinstance(error, Unexpected):
        lost(error.name, error.how)
        return
    candidates = _candidates(error, code)
    name = next(
        (candidate for candidate in candidates if shape.problem(candidate) is not None),
        candidates[0] if candidates else None,
    )
    if name is not None:
        lost(name, shape.in_words(error))
        return
    where = code.co_qualname if code is not None and hasattr(code, "co_qualname") else getattr(code, "co_name", "?")
    if where not in losses:
        losses[where] = shape.in_words(error)
        report.warn(f"depyf: {where} failed: {shape.in_words(error)}. The program is not affected.")


def _candidates(error: Exception, code: types.CodeType | None) -> list[Name]:
    """Returns the private names that can have caused an exception, the most likely first."""
    candidates = list(_BY_LAST.get(getattr(error, "name", None) or "", ())) if isinstance(error, AttributeError) else []
    traceback = error.__traceback__
    lines: list[list[str]] = []
    while traceback is not None:
        # Collects the names in the lines of depyf that the exception passed through, the innermost line first.
        frame = traceback.tb_frame
        if frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_code.co_filename not in _MACHINERY:
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
