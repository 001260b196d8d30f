"""Why a compilation does not serve a call: the guards that decide, without those that fail only because of them.

A call under autocast fails the guard on autocast, and with it the guard on every tensor, whose dispatch keys have autocast in
them. An object of another class fails the guard on its class, and with it all guards on what it holds. `reasons` keeps the
causes; what follows from one, and the same difference at other values, is folded into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from depyf.compat import global_state
from depyf.guards.differences import (
    DEFAULT_DEVICE,
    FUNCTORCH,
    MODE_STACK,
    Aspect,
    Difference,
    differences,
    expected_keys,
    is_of_state,
)
from depyf.guards.model import Guard
from depyf.guards.terms import in_terms
from depyf.session import Failure

# The dispatch keys that a setting of the process adds to every tensor, or takes away from it, by how they begin.
_KEYS_OF_STATE = {
    global_state.AUTOCAST: ("Autocast",),
    FUNCTORCH: ("FuncTorch", "Vmap", "Batched"),
    MODE_STACK: ("Python",),
    global_state.GRAD_MODE: ("ADInplaceOrView", "Autograd"),
}
# An object that is another one in these aspects holds other things.
_WHOLE: tuple[Aspect, ...] = ("class", "identity", "presence")
_FIRST: tuple[Aspect, ...] = ("state", *_WHOLE)
# The same difference at several values is one reason, in these aspects. Values have to have the same name besides.
_ALIKE: tuple[Aspect, ...] = ("dtype", "device", "requires_grad", "dispatch", "shape", "stride", "marks")


def reasons(guards: Iterable[Guard], L: Mapping[str, Any], G: Mapping[str, Any]) -> list[Failure]:
    """Returns why the guards of a compilation do not hold for local and global variables; empty if they do.

    Returns:
        The causes, each with what follows from it: first those of the state of the process, then objects that are others as a
        whole, then all else, in the order in which PyTorch checks them.
    """
    listed = list(guards)
    above = {guard.source: guard.above for guard in listed if guard.source}
    of_state = [difference for guard in listed if is_of_state(guard) for difference in differences(guard, L, G)]
    begins = _begins_of_keys(of_state)
    all_differences = [
        *of_state,
        *(difference for guard in listed if not is_of_state(guard) for difference in differences(guard, L, G, begins)),
    ]
    all_differences.sort(
        key=lambda difference: _FIRST.index(difference.aspect) > 0 if difference.aspect in _FIRST else 2
    )
    keys = expected_keys(listed)
    causes: list[Difference] = []
    follow: dict[int, list[Difference]] = {}
    for difference in all_differences:
        cause = next((cause for cause in all_differences if _explains(cause, difference, above, begins)), None)
        if cause is None:
            causes.append(difference)
        else:
            follow.setdefault(id(cause), []).append(difference)
    groups: dict[object, list[Difference]] = {}
    for cause in causes:
        groups.setdefault(_kind_of_difference(cause), []).append(cause)
    failures = []
    for group in groups.values():
        first = min(group, key=lambda difference: len(above.get(difference.guard.source, ())))
        alike = [difference.failure.subject for difference in group if difference is not first]
        consequences = [consequence for difference in group for consequence in _all_that_follows(difference, follow)]
        subjects = [consequence.failure.subject for consequence in consequences]
        failed = first.failure
        if first.aspect == "keys" and first.guard.kind != "DICT_CONTAINS" and first.sources[0] in keys:
            failed = replace(failed, expected=f"[{', '.join(keys[first.sources[0]])}]")
        follows = [subject for subject in dict.fromkeys(subjects) if subject != failed.subject and subject not in alike]
        failures.append(replace(failed, alike=list(dict.fromkeys(alike)), follows=follows))
    return failures


def _all_that_follows(cause: Difference, follow: dict[int, list[Difference]]) -> list[Difference]:
    consequences = list(follow.get(id(cause), ()))
    for difference in consequences:  # grows on the way
        consequences += follow.get(id(difference), ())
    return consequences


def _explains(
    cause: Difference, effect: Difference, above: Mapping[str, tuple[str, ...]], begins: tuple[str, ...]
) -> bool:
    """True if `effect` would not be there without `cause`.

    Args:
        above: Dynamo's name for a value -> those of the values on the way to it, itself last.
        begins: the beginnings of the dispatch keys that come and go with the settings of the process that differ.
    """
    if cause is effect:
        return False
    if cause.aspect == "state":
        return _state_explains(cause, effect, begins)
    if effect.aspect == "state" or not effect.sources:
        return False
    whole_at = cause.sources[0] if cause.sources else ""
    ways = [above.get(source, (source,)) for source in effect.sources]
    is_below = any(whole_at in way[:-1] for way in ways) and whole_at not in effect.sources
    is_same = whole_at in effect.sources
    if cause.aspect in _WHOLE:
        if is_below or (is_same and effect.aspect in ("relation", "sizes")):
            return True
        is_first = cause.aspect != effect.aspect or cause.guard is not effect.guard
        return is_same and is_first and _follows_from_class(cause, effect)
    if cause.aspect in ("keys", "length"):
        if is_below and (effect.is_missing or cause.guard.key_of or _is_by_position(effect)):
            return True
        return is_same and effect.aspect in ("keys", "length") and _comes_first(cause, effect)
    if cause.aspect in ("device", "stride") and is_same:
        return effect.aspect == ("stride" if cause.aspect == "device" else "sizes")
    if cause.aspect == "value" and is_same:
        return effect.aspect in ("keys", "length")
    if cause.aspect == "shape":
        is_of_tensor = is_same or any(in_terms(whole_at) == in_terms(source) for source in effect.sources)
        if effect.aspect == "stride":
            return is_same and _keeps_layout(cause.guard, cause, effect)
        return is_of_tensor and effect.aspect in ("sizes", "relation")
    if cause.aspect == "sizes" and effect.aspect == "sizes":
        return _comes_first(cause, effect) and bool(set(cause.sources) & set(effect.sources))
    return is_below and effect.is_missing


def _comes_first(cause: Difference, effect: Difference) -> bool:
    """True of one of two differences that could explain each other: the one that says more in less."""

    def order(difference: Difference) -> tuple[bool, int, str]:
        condition = difference.failure.condition
        return difference.is_missing, len(condition), condition

    return order(cause) < order(effect)


def _begins_of_keys(all_differences: Iterable[Difference]) -> tuple[str, ...]:
    return tuple(
        begin for difference in all_differences if difference.aspect == "state" for begin in _own_begins(difference)
    )


def _own_begins(cause: Difference) -> tuple[str, ...]:
    """Returns how the dispatch keys begin that a setting of the process adds to every tensor, or takes away from it."""
    subject, actual = cause.failure.subject, cause.failure.actual
    if subject == global_state.GRAD_MODE and actual not in ("on", global_state.OFF_IN_INFERENCE_MODE):
        return ()  # only inference mode touches the keys
    return next((begins for name, begins in _KEYS_OF_STATE.items() if subject.startswith(name)), ())


def _state_explains(cause: Difference, effect: Difference, begins: tuple[str, ...]) -> bool:
    subject = cause.failure.subject
    if effect.failure.subject == MODE_STACK:
        return subject == DEFAULT_DEVICE and all(mode.startswith("device(") for mode in effect.keys)
    if effect.aspect != "dispatch":
        return False
    own = _own_begins(cause)
    # Under autocast in inference mode the keys differ for both reasons.
    return (
        bool(own)
        and any(key.startswith(own) for key in effect.keys)
        and all(key.startswith(begins) for key in effect.keys)
    )


def _follows_from_class(cause: Difference, effect: Difference) -> bool:
    """True if `cause` says that a value is another object as a whole, from which the other difference of the same
    value follows."""
    order = {"presence": 0, "class": 1, "identity": 2}
    if effect.aspect in order:
        if order[cause.aspect] != order[effect.aspect]:
            return order[cause.aspect] < order[effect.aspect]
        return _comes_first(cause, effect)
    if cause.guard.kind != "TENSOR_MATCH":
        return True
    is_parameter = "Parameter" in (cause.failure.expected, cause.failure.actual)
    return effect.aspect == "dispatch" or (is_parameter and effect.aspect == "requires_grad")


def _is_by_position(difference: Difference) -> bool:
    """True if a value of a dict is read by its position: other keys put another value there."""
    return bool(difference.guard.value and "list(dict.values(" in difference.guard.value)


_SIZES = re.compile(r"size=\[(?P<size>[^\]]*)\], stride=\[(?P<stride>[^\]]*)\]")
_NUMBERS = re.compile(r"-?\d+")


def _keeps_layout(guard: Guard, shape: Difference, stride: Difference) -> bool:
    """True if strides differ only because sizes do: the dimensions lie in memory in the same order, without gaps.

    A dimension of one element lies anywhere: `(160, 32, 1)` of the sizes `(1, 5, 32)` and `(32, 32, 1)` of `(1, 1, 32)` are
    the same layout.
    """
    match = _SIZES.search(guard.text)
    if match is None or "None" in match["size"] or "None" in match["stride"]:
        return True
    sizes, strides = ([int(number) for number in _NUMBERS.findall(match[part])] for part in ("size", "stride"))
    actual = [[int(number) for number in _NUMBERS.findall(difference.failure.actual)] for difference in (shape, stride)]
    expected_layout, actual_layout = _layout(sizes, strides), _layout(*actual)
    if len(sizes) != len(actual[0]):
        return expected_layout == sorted(expected_layout or ()) and actual_layout == sorted(actual_layout or (-1,))
    if expected_layout is None or actual_layout is None:
        return False
    common = set(expected_layout) & set(actual_layout)
    orders = [[dimension for dimension in layout if dimension in common] for layout in (expected_layout, actual_layout)]
    return orders[0] == orders[1]


def _layout(sizes: list[int], strides: list[int]) -> list[int] | None:
    """Returns the dimensions of more than one element, the outermost first; None if the tensor has gaps or overlaps."""
    if len(sizes) != len(strides):
        return None
    dimensions = [dimension for dimension, size in enumerate(sizes) if size > 1]
    dimensions.sort(key=lambda dimension: -strides[dimension])
    step = 1
    for dimension in reversed(dimensions):
        if strides[dimension] != step:
            return None
        step *= sizes[dimension]
    return dimensions


def _kind_of_difference(difference: Difference) -> object:
    """Returns a key that is equal for differences that are the same at several values, and unique for any other."""
    failed = difference.failure
    if difference.aspect in _ALIKE:
        change: object = (failed.expected, failed.actual)
        if difference.aspect == "shape":
            change = _changed_sizes(failed) or change
        return difference.aspect, change, failed.subject.rpartition(".")[2] if difference.aspect == "dispatch" else ""
    if difference.aspect == "value" and "." in failed.subject:
        # An attribute that many objects have, such as the `training` of modules.
        return difference.aspect, failed.subject.rpartition(".")[2], failed.expected, failed.actual
    return id(difference)


def _changed_sizes(failed: Failure) -> object:
    """Returns the sizes that changed, each before and after: a batch is one change for all tensors that have it."""
    expected, actual = (_NUMBERS.findall(text) for text in (failed.expected, failed.actual))
    if len(expected) != len(actual) or failed.subject.endswith(".dim()"):
        return None
    return tuple(sorted({pair for pair in zip(expected, actual) if pair[0] != pair[1]}))
