"""Determines why a compilation rejects a call. The reasons are the guards that fail, without those that fail only as a
consequence of another failure.

C++ code decides which failing guards are causes and which are consequences; see include/depyf/reasons.h.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from depyf import _core
from depyf.guards import process_state
from depyf.guards.aspects import Difference
from depyf.guards.dict_differences import expected_keys
from depyf.guards.differences import DEFAULT_DEVICE, FUNCTORCH, MODE_STACK, differences, is_of_state
from depyf.guards.model import Guard
from depyf.session import Failure

# The prefixes of the dispatch keys that a setting of the process adds to every tensor, or removes from it.
_KEYS_OF_STATE = {
    process_state.AUTOCAST: ("Autocast",),
    FUNCTORCH: ("FuncTorch", "Vmap", "Batched"),
    MODE_STACK: ("Python",),
    process_state.GRAD_MODE: ("ADInplaceOrView", "Autograd"),
}


def reasons(guards: Iterable[Guard], L: Mapping[str, Any], G: Mapping[str, Any]) -> list[Failure]:
    """Returns the reasons why the guards of a compilation do not hold for local and global variables; an empty list if
    all guards hold.

    Returns:
        The causes, each with its consequences. Causes in the state of the process come first, then objects that were
        replaced as a whole, then all other causes in the order in which PyTorch checks the guards.
    """
    listed = list(guards)
    of_state = [difference for guard in listed if is_of_state(guard) for difference in differences(guard, L, G)]
    begins = tuple(begin for difference in of_state for begin in _own_begins(difference))
    all_differences = [
        *of_state,
        *(difference for guard in listed if not is_of_state(guard) for difference in differences(guard, L, G, begins)),
    ]
    if not all_differences:
        return []
    above = {guard.source: guard.above for guard in listed if guard.source}
    sources = {source for difference in all_differences for source in (difference.guard.source, *difference.sources)}
    values = {
        "above": {source: above[source] for source in sources if source in above},
        "terms": {source: _core.in_terms(source) for source in sources},
        "dict_keys": expected_keys(listed),
        "mode_stack": MODE_STACK,
        "default_device": DEFAULT_DEVICE,
    }
    numbers = {id(guard): number for number, guard in enumerate(listed)}
    told = [_told(difference, numbers[id(difference.guard)]) for difference in all_differences]
    failures = []
    for number, expected, alike, follows in _core.deciding_reasons(told, values):
        failed = all_differences[number].failure
        failures.append(replace(failed, expected=expected or failed.expected, alike=alike, follows=follows))
    return failures


def _told(difference: Difference, guard_number: int) -> dict[str, Any]:
    """Returns a `Difference` as a dict, in the form that the C++ core reads."""
    failed, guard = difference.failure, difference.guard
    return {
        "aspect": difference.aspect,
        "condition": failed.condition,
        "subject": failed.subject,
        "expected": failed.expected,
        "actual": failed.actual,
        "guard": guard_number,
        "guard_kind": guard.kind,
        "guard_text": guard.text,
        "guard_source": guard.source,
        "is_of_key": bool(guard.key_of),
        "is_by_position": bool(guard.value and "list(dict.values(" in guard.value),
        "is_missing": difference.is_missing,
        "keys": sorted(difference.keys),
        "sources": difference.sources,
        "begins": _own_begins(difference) if difference.aspect == "state" else (),
    }


def _own_begins(cause: Difference) -> tuple[str, ...]:
    """`cause` is a difference in a setting of the process. Returns the prefixes of the dispatch keys that the setting
    in `cause` adds to every tensor or removes from it."""
    subject, actual = cause.failure.subject, cause.failure.actual
    if subject == process_state.GRAD_MODE and actual not in ("on", process_state.OFF_IN_INFERENCE_MODE):
        return ()  # `torch.no_grad` changes no dispatch keys; only inference mode does.
    return next((begins for name, begins in _KEYS_OF_STATE.items() if subject.startswith(name)), ())
