"""Determines the differences between the call for which a function was compiled and another call, aspect by aspect.

A guard of PyTorch checks several aspects at once. For example, a guard on a tensor checks its class, dtype, device,
sizes and strides, and the guard on the state of the process checks a dozen settings. Each aspect that differs becomes
one `Difference`, so that `depyf.guards.reasons` can separate causes from consequences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from depyf import _core
from depyf.guards import process_state
from depyf.guards.aspects import Aspect, Difference
from depyf.guards.dict_differences import difference_of_key, failure_of_keys
from depyf.guards.failures import NOT_THERE, class_in, described, failure, terms_of
from depyf.guards.model import UNREADABLE, Guard
from depyf.session import Failure

_STATE_KINDS = ("GLOBAL_STATE", "TORCH_FUNCTION_MODE_STACK", "DEFAULT_DEVICE", "DUAL_LEVEL_MATCH")
_BY_KIND: dict[str, Aspect] = {
    "TYPE_MATCH": "class",
    "FAKE_SCRIPT_TYPE_MATCH": "class",
    "ID_MATCH": "identity",
    "NONE_MATCH": "presence",
    "NOT_NONE": "presence",
    "NO_HASATTR": "presence",
    "REACHABLE": "presence",
    "DICT_SIZE": "keys",
    "DICT_LENGTH": "keys",
    "DICT_CONTAINS": "keys",
    "DICT_VERSION": "keys",
    "SET_CONTAINS": "keys",
    "MAPPING_KEYS_MATCH": "keys",
    "LENGTH_CHECK": "length",
    "TUPLE_ITERATOR_LEN": "length",
    "NO_TENSOR_ALIASING": "relation",
    "OBJECT_ALIASING": "relation",
    "STORAGE_OVERLAPPING": "relation",
    "SYMBOLIC_SHAPE_GUARD": "sizes",
    "DIMENSION_DYNAMIC_MARKING_GUARD": "marks",
}
_KEY_SET = re.compile(r"DispatchKeySet\(([^()]*)\)")
_TENSOR_ASPECTS: tuple[tuple[str, Aspect], ...] = (
    (".dtype ", "dtype"),
    (".device.", "device"),
    (".requires_grad ", "requires_grad"),
    (".size(", "shape"),
    (".dim() ", "shape"),
    (".stride(", "stride"),
)
MODE_STACK = "torch function modes"
DEFAULT_DEVICE = "default device"
FUNCTORCH = "transforms of torch.func"


def is_of_state(guard: Guard) -> bool:
    """True if a guard checks the state of the process (such as grad mode) and not a value of the program."""
    return guard.kind in _STATE_KINDS or not guard.quiet


def differences(
    guard: Guard, L: Mapping[str, Any], G: Mapping[str, Any], keys_of_state: tuple[str, ...] = ()
) -> list[Difference]:
    """Returns the aspects in which local and global variables differ from the requirements of a guard; an empty list if
    the guard holds.

    Args:
        keys_of_state: the prefixes of those dispatch keys that every tensor has gained or lost because a setting of the
            process differs. Keys with such a prefix are left out of the difference of a single tensor, unless the
            tensor differs only in keys with these prefixes.
    """
    failing = guard.all_failing(L, G)
    if not failing:
        return []
    if is_of_state(guard):
        return list(_state(guard, failing, L, G))
    if guard.kind == "TENSOR_MATCH" and guard.live is None:
        return _tensor(guard, failing, L, G, keys_of_state)
    if guard.key_of:
        return [difference_of_key(guard, L, G)]
    failed = failure(guard, failing[0], L, G)
    if (
        guard.value
        and guard.source
        and not guard.members
        and guard.live is None
        and failed.actual.startswith(NOT_THERE)
    ):
        return [_missing(guard, failed, L, G)]
    aspect = _BY_KIND.get(guard.kind, "value")
    if aspect == "value" and (not guard.source or guard.kind == "LAMBDA_GUARD") and guard.live is None:
        aspect = "sizes" if _is_about_sizes(failing[0]) else "value" if guard.source else "relation"
    if guard.live is None and failing[0].startswith(("type(", "id(type(")):
        aspect, failed = "class", _class(guard, failed, L, G)
    elif aspect == "keys":
        failed = failure_of_keys(guard, failed, L, G)
    elif aspect == "relation":
        failed = _related(guard, failed)
    elif aspect == "sizes":
        failed = _with_size(guard, failing[0], failed, L, G)
    elif aspect == "identity":
        failed = replace(failed, subject=failed.subject.removesuffix(".__code__"))
    sources = guard.members or ((guard.source,) if guard.source else _sources_in(failing[0]))
    return [
        Difference(aspect, failed, guard, sources=sources, is_missing=failed.actual.startswith((NOT_THERE, UNREADABLE)))
    ]


def _missing(guard: Guard, failed: Failure, L: Mapping[str, Any], G: Mapping[str, Any]) -> Difference:
    """Returns the difference for a guard whose value does not exist, or whose path leads through a value that does not
    exist."""
    name = terms_of(guard, guard.value or guard.source)
    constant = _CONSTANT.search(guard.conditions[-1]) if guard.conditions else None
    expected = constant[1] if constant else class_in(guard.text) or "to be there"
    failed = replace(failed, condition=f"{name} is {expected}", subject=name, expected=expected)
    return Difference("presence", failed, guard, sources=(guard.source,), is_missing=True)


_CONSTANT = re.compile(r" (?:==|is) ([^=]+)$")


def _related(guard: Guard, failed: Failure) -> Failure:
    """Returns `failed`, the failure of a guard that relates several values to each other, with phrases such as
    "different tensors" as its expected and actual values."""
    names = " and ".join(_core.in_terms(name) for name in guard.members) or failed.subject
    if guard.kind == "NO_TENSOR_ALIASING":
        return replace(
            failed, condition=f"{names} are different", subject=names, expected="different tensors", actual="the same"
        )
    if guard.kind == "OBJECT_ALIASING":
        return replace(
            failed, condition=f"{names} are the same", subject=names, expected="the same object", actual="different"
        )
    if guard.kind == "STORAGE_OVERLAPPING":
        return replace(failed, subject=f"the memory of {names}", expected="overlapping as before", actual="not so")
    return failed


def _with_size(guard: Guard, condition: str, failed: Failure, L: Mapping[str, Any], G: Mapping[str, Any]) -> Failure:
    """Returns `failed`, the failure of a condition on sizes. If the condition compares the sizes of two tensors, the
    returned failure also states the number to which the expected size evaluates."""
    right = condition.rpartition(" == ")[2]
    if " == " not in condition or not _sources_in(right):
        return failed
    return replace(failed, expected=f"{failed.expected}, which is {described(guard, right, L, G)}")


def _is_about_sizes(condition: str) -> bool:
    return any(part in condition for part in (".size()", ".stride()", ".storage_offset()"))


def _sources_in(condition: str) -> tuple[str, ...]:
    """Returns Dynamo's names of the values that a condition on sizes reads. For the condition `2 <= L['x'].size()[0]`,
    the only name is `L['x']`."""
    sources = re.findall(
        r"([LG]\[(?:[^\[\]]|\[[^\[\]]*\])*?\](?:[.\[\]'\w]*?))(?=\.(?:size|stride|storage_offset)\()", condition
    )
    return tuple(dict.fromkeys(sources or re.findall(r"[LG]\['[^']*'\]", condition)))


# The following functions find differences in the state of the process.


def _state(guard: Guard, failing: list[str], L: Mapping[str, Any], G: Mapping[str, Any]) -> Iterator[Difference]:
    before, now = process_state.compiled_with(guard.text), process_state.now()
    if guard.kind == "GLOBAL_STATE" and before is not None and now is not None:
        for name in sorted(before, key=lambda name: (not name.startswith(process_state.AUTOCAST), name)):
            actual = now.get(name, "not known")
            if actual.partition(" (")[0] != before[name]:
                yield _of_state(guard, name, before[name], actual)
        return
    text = guard.text
    if guard.kind == "TORCH_FUNCTION_MODE_STACK":
        modes = process_state.modes()
        actual = "not known" if modes is None else ", ".join(modes) or "none"
        # PyTorch gives no access to the torch function modes that the guard requires.
        expected = "none" if guard.live is None else "some" if actual == "none" else "others"
        yield replace(_of_state(guard, MODE_STACK, expected, actual), keys=frozenset(modes or ()))
    elif guard.kind == "DEFAULT_DEVICE":
        failed = failure(guard, failing[0], L, G)
        yield _of_state(guard, DEFAULT_DEVICE, _device(failed.expected), _device(failed.actual))
    elif "compare_functorch_state" in text:
        is_none = text.partition("compare_functorch_state")[2].startswith("([])")
        yield _of_state(guard, FUNCTORCH, "none" if is_none else "others", "some" if is_none else "other ones or none")
    elif "top_saved_tensors_hooks" in text:
        expected = "none" if text.rstrip().endswith("None") else "others"
        yield _of_state(
            guard, "hooks on saved tensors", expected, "some" if expected == "none" else "other ones or none"
        )
    elif guard.kind == "DUAL_LEVEL_MATCH":
        yield _of_state(guard, "level of forward-mode differentiation", "another one", "not that")
    else:
        failed = failure(guard, failing[0], L, G)
        yield Difference("state", replace(failed, kind=guard.kind), guard)


def _of_state(guard: Guard, name: str, expected: str, actual: str) -> Difference:
    condition = f"{name} is {expected}"
    failed = Failure(condition, name, expected, actual, guard.line, guard.kind, is_state=True)
    return Difference("state", failed, guard)


def _device(text: str) -> str:
    match = re.search(r"type='(\w+)'(?:, index=(\d+))?", text)
    if match is None:
        return "not set" if text == "None" else text
    return match[1] if match[2] is None else f"{match[1]}:{match[2]}"


# The following functions find differences in tensors.


def _tensor(
    guard: Guard, failing: list[str], L: Mapping[str, Any], G: Mapping[str, Any], keys_of_state: tuple[str, ...]
) -> list[Difference]:
    sources = (guard.source,)
    first = failure(guard, failing[0], L, G)
    try:
        value = guard.read(L, G)
    except Exception:
        failed = replace(first, subject=_core.in_terms(guard.source), expected="a tensor", actual=f"{NOT_THERE}")
        return [Difference("presence", failed, guard, sources=sources, is_missing=True)]
    result = []
    is_tensor = hasattr(type(value), "dtype") and hasattr(type(value), "size")
    for condition in failing:
        if condition.startswith(("type(", "id(type(")):
            result.append(
                Difference("class", _class(guard, failure(guard, condition, L, G), L, G), guard, sources=sources)
            )
            if not is_tensor:
                return result  # The remaining aspects of a value that is no tensor cannot be compared.
        elif "_dispatch_keys(" in condition:
            result += _dispatch(guard, condition, value, L, G, keys_of_state)
        else:
            aspect: Aspect = next((aspect for part, aspect in _TENSOR_ASPECTS if part in condition), "value")
            result.append(Difference(aspect, failure(guard, condition, L, G), guard, sources=sources))
    return result


def _class(guard: Guard, failed: Failure, L: Mapping[str, Any], G: Mapping[str, Any]) -> Failure:
    """Returns `failed`, the failure of a guard on the class of a value, with the names of the expected and the actual
    class. If the expected and the actual class have the same name in different modules, the names of the modules are
    included."""
    name = terms_of(guard, guard.value or guard.source)
    expected = class_in(guard.text) or failed.expected
    try:
        kind = type(guard.read(L, G))
        actual = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    except Exception:
        actual = NOT_THERE
    if guard.kind == "TENSOR_MATCH":
        expected = failed.expected
    short_expected, short_actual = expected.rpartition(".")[2], actual.rpartition(".")[2]
    if expected == actual:
        actual = "another class of that name"
    elif short_expected != short_actual:
        expected, actual = short_expected, short_actual
    return replace(
        failed, condition=f"type({name}) is {expected}", subject=f"type({name})", expected=expected, actual=actual
    )


def _dispatch(
    guard: Guard,
    condition: str,
    value: Any,
    L: Mapping[str, Any],
    G: Mapping[str, Any],
    keys_of_state: tuple[str, ...],
) -> list[Difference]:
    """Returns the difference that explains why a tensor has other dispatch keys than expected: a difference in the
    device, in the layout or in inference mode. If none of these differs, returns a difference in the dispatch keys
    themselves."""
    subject = condition.partition(" == 'DispatchKeySet(")[0]
    sets = [_KEY_SET.search(text) for text in (condition[len(subject) :], described(guard, subject, L, G, whole=True))]
    wanted, there = (frozenset() if key_set is None else frozenset(key_set[1].split(", ")) for key_set in sets)
    of_state = {key for key in wanted ^ there if key.startswith(keys_of_state)} if keys_of_state else set()
    if of_state != wanted ^ there:
        wanted, there = wanted - of_state, there - of_state
    only_wanted, only_there = wanted - there, there - wanted
    name = _core.in_terms(guard.source)
    keys = wanted ^ there
    rest = {key for key in keys if not key.startswith("Autograd")}

    def difference(aspect: Aspect, subject: str, expected: str, actual: str) -> Difference:
        failed = Failure(f"{subject} is {expected}", subject, expected, actual, guard.line, guard.kind)
        return Difference(aspect, failed, guard, keys, (guard.source,))

    before, now = _backend(wanted), _backend(there)
    if before is not None and now is not None and before != now:
        if before[1] != now[1]:
            return [difference("device", f"{name}.device", before[1], str(value.device))]
        return [difference("device", f"{name}.layout", before[0] or "strided", now[0] or "strided")]
    if rest <= {"ADInplaceOrView"} and not (only_wanted and only_there):
        origins = "not made in inference mode", "made in inference mode"
        expected, actual = origins if only_wanted else origins[::-1]
        return [difference("dispatch", name, expected, actual)]
    expected = " ".join(sorted(only_wanted)) or f"without {' '.join(sorted(only_there))}"
    actual = " ".join(sorted(only_there)) or f"without {' '.join(sorted(only_wanted))}"
    return [difference("dispatch", f"dispatch keys of {name}", expected, actual)]


_BACKEND = re.compile(
    r"^(Sparse|SparseCsr|Mkldnn|Quantized|NestedTensor)?(CPU|CUDA|HIP|XLA|MPS|IPU|XPU|HPU|VE|Lazy|MTIA|MAIA|Meta|PrivateUse\d)$"
)


def _backend(keys: Iterable[str]) -> tuple[str, str] | None:
    """Returns (layout, device type) for the first dispatch key in `keys` that names a backend, such as `SparseCPU`;
    None if no key names a backend."""
    for key in keys:
        if match := _BACKEND.match(key):
            return (match[1] or "").lower(), match[2].lower()
    return None
