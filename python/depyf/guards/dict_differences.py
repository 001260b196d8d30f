"""Determines the differences between the keys that a dict has and the keys that guards require."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from depyf import _core
from depyf.guards.aspects import Difference
from depyf.guards.failures import NOT_THERE, described
from depyf.guards.model import UNREADABLE, Guard
from depyf.session import Failure

_POSITION = re.compile(r"\[(\d+)\]$")
_SIZE = re.compile(r"dict\.__len__\(.*\) == (\d+)$")


def expected_keys(guards: Iterable[Guard]) -> dict[str, list[str]]:
    """Returns the keys that guards require of each dict whose keys are all guarded in order. The result maps Dynamo's
    name for each dict to the list of the dict's keys."""
    keys: dict[str, dict[int, str]] = {}
    sizes: dict[str, int] = {}
    for guard in guards:
        position = _POSITION.search(guard.source) if guard.key_of else None
        if position is not None and guard.kind == "EQUALS_MATCH" and guard.conditions:
            keys.setdefault(guard.key_of, {})[int(position[1])] = guard.conditions[-1].partition(" == ")[2]
        elif guard.kind == "DICT_SIZE" and (size := _size(guard)) is not None:
            sizes[guard.source] = size
    return {
        name: [of_dict[position] for position in range(len(of_dict))]
        for name, of_dict in keys.items()
        if of_dict.keys() == set(range(sizes.get(name, -1)))
    }


def _size(guard: Guard) -> int | None:
    match = _SIZE.search(guard.conditions[-1]) if guard.conditions else None
    return int(match[1]) if match else None


def difference_of_key(guard: Guard, L: Mapping[str, Any], G: Mapping[str, Any]) -> Difference:
    """Returns the `Difference` for a failing guard on the key at one position of a dict."""
    condition = guard.conditions[-1] if guard.conditions else guard.text
    position = _POSITION.search(guard.source)
    where = f" at position {position[1]}" if position else ""
    keys = guard.value.removesuffix(f"[{position[1]}]") if guard.value and position else None
    actual = _keys_of(keys, guard, L, G)
    name, expected = _core.owner_in_terms(guard.key_of), condition.partition(" == ")[2] or "another one"
    failed = Failure(
        f"the key of {name}{where} is {expected}",
        f"keys of {name}",
        f"{expected}{where}",
        actual or UNREADABLE,
        guard.line,
        guard.kind,
    )
    is_missing = described(guard, guard.value, L, G).startswith((NOT_THERE, UNREADABLE))
    return Difference("keys", failed, guard, sources=(guard.key_of,), is_missing=is_missing)


def failure_of_keys(guard: Guard, failed: Failure, L: Mapping[str, Any], G: Mapping[str, Any]) -> Failure:
    """Returns `failed`, the failure of a guard on the keys or on the size of a dict. The expected keys and the actual
    keys are added to the failure."""
    keys = guard.value if guard.kind == "SET_CONTAINS" else f"list(dict.keys({guard.value}))" if guard.value else None
    actual = _keys_of(keys, guard, L, G)
    if actual is None:
        return failed
    expected, size = failed.expected, _size(guard)
    if guard.kind == "SET_CONTAINS":
        element = re.search(r"set_contains\(.*, (.*)\)$", guard.text)
        wanted = "without" if guard.text.startswith("not ") else "with"
        return replace(
            failed,
            subject=_core.in_terms(guard.source),
            expected=f"{wanted} {element[1] if element else 'another'}",
            actual=actual,
        )
    contained = re.search(r"dict_contains\((.*?), ", guard.text)
    if contained:
        expected = f"no {contained[1]}" if guard.text.startswith("not ") else contained[1]
    elif size is not None:
        expected = f"{size} of them"
    elif guard.live is not None:
        expected = "as many as before"
    return replace(failed, subject=f"keys of {_core.owner_in_terms(guard.source)}", expected=expected, actual=actual)


def _keys_of(expression: str | None, guard: Guard, L: Mapping[str, Any], G: Mapping[str, Any]) -> str | None:
    if expression is None:
        return None
    text = described(guard, expression, L, G)
    return None if text.startswith((NOT_THERE, UNREADABLE)) else text
