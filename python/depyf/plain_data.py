"""Converts dataclasses to plain data that JSON can represent, and back."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from typing import Any

_SIMPLE = {str, int, float, bool, type(None)}


def plain(value: Any) -> Any:
    """Returns a value with its dataclasses turned into dicts, at any depth."""
    kind = type(value)
    if kind in _SIMPLE:
        return value
    if kind is list or kind is tuple:
        return [item if type(item) in _SIMPLE else plain(item) for item in value]
    if kind is dict:
        return {key: item if type(item) in _SIMPLE else plain(item) for key, item in value.items()}
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is None:
        return value
    values = vars(value)
    # Simple values are copied without a call, because a dump has thousands of them.
    return {name: item if type(item := values[name]) in _SIMPLE else plain(item) for name in fields}


def load(kind: Any, data: Any, where: str = "") -> Any:
    """Converts plain data to a value of the type `kind`: a dataclass, a list or tuple, an optional value, or a simple
    value.

    Args:
        where: a description of the data for the message of an error.

    Raises:
        TypeError: the data is of another type, or fields are missing or unknown.
    """
    where = where or getattr(kind, "__name__", "value")
    if dataclasses.is_dataclass(kind):
        hints = _hints(typing.cast(type, kind))
        if type(data) is not dict:
            raise TypeError(f"{where} is not an object")
        unknown = set(data) - set(hints)
        if unknown:
            raise TypeError(f"{where} has unknown fields: {', '.join(sorted(unknown))}")
        fields = {name: load(hints[name], value, f"{where}.{name}") for name, value in data.items()}
        return typing.cast(Any, kind)(**fields)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (list, tuple):
        if type(data) is not list:
            raise TypeError(f"{where} is not a list")
        return origin(load(arguments[0], item, where) for item in data)
    if origin is types.UnionType:
        return None if data is None else load(arguments[0], data, where)
    if type(data) is not kind and not (kind is float and type(data) is int):
        raise TypeError(f"{where} is not {kind.__name__}")
    return data


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)
