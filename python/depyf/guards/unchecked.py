"""Sentences about what no guard checks: guards that a filter dropped, and values without a guard.

`aot_compile` drops every guard on a global and every guard that cannot be saved; `guard_filter_fn` drops what the user
chooses.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterable

from depyf import _core
from depyf.guards.model import Guard

_LISTED = 20
"""A sentence names at most this many values."""
_OTHER_OBJECT = "that another object is in its place will not be noticed"
_GLOBAL_STATE = (
    "a call in another state of the process (grad mode, autocast, default dtype, determinism) will not be noticed"
)
_MEANING = {
    "TENSOR_MATCH": "a call with another dtype, device, size or requires_grad will not be noticed",
    "DTYPE_MATCH": "a call with another dtype will not be noticed",
    "TYPE_MATCH": "a value of another class will not be noticed",
    "CONSTANT_MATCH": "another value will not be noticed",
    "EQUALS_MATCH": "another value will not be noticed",
    "BOOL_MATCH": "another value will not be noticed",
    "NONE_MATCH": "another value will not be noticed",
    "SEQUENCE_LENGTH": "another length will not be noticed",
    "DICT_LENGTH": "another length will not be noticed",
    "DICT_KEYS_MATCH": "other keys will not be noticed",
    "DICT_CONTAINS": "other keys will not be noticed",
    "SET_CONTAINS": "other members will not be noticed",
    "DICT_VERSION": "that it is changed will not be noticed",
    "HASATTR": "that it gets or loses an attribute will not be noticed",
    "NOT_PRESENT_IN_GENERIC_DICT": "that it gets an attribute of its own will not be noticed",
    "EMPTY_NN_MODULE_HOOKS_DICT": "that it gets hooks will not be noticed",
    "DUPLICATE_INPUT": "that two values are no longer the same object will not be noticed",
    "SHAPE_ENV": "sizes beyond those that the code is right for will not be noticed",
    "GRAD_MODE": "a call in another grad mode will not be noticed",
    "GLOBAL_STATE": _GLOBAL_STATE,
    "DETERMINISTIC_ALGORITHMS": "a call with other settings for deterministic algorithms will not be noticed",
    "TORCH_FUNCTION_STATE": "a call with other torch function modes at work will not be noticed",
    "DEFAULT_DEVICE": "a call with another default device will not be noticed",
    "FSDP_TRAINING_STATE": "a call in another training state of FSDP will not be noticed",
    "AUTOGRAD_SAVED_TENSORS_HOOKS": "a call with other hooks for saved tensors will not be noticed",
}
_IDENTITY = {
    "ID_MATCH", "FUNCTION_MATCH", "CLASS_MATCH", "MODULE_MATCH", "CLOSURE_MATCH", "BUILTIN_MATCH", "NN_MODULE", "WEAKREF_ALIVE",
}  # fmt: skip


def of_dropped(dropped: Iterable[tuple[str, str]]) -> list[str]:
    """Returns sentences about changes that are not noticed because a filter dropped guards.

    Args:
        dropped: for each dropped guard its kind, and Dynamo's name of its value, which is empty for the state of the
            process.
    """
    names_of: dict[str, dict[str, None]] = {}
    for kind, name in dropped:
        meaning = (
            _OTHER_OBJECT
            if kind in _IDENTITY
            else _MEANING.get(kind, f"that its {kind} no longer holds will not be noticed")
        )
        names_of.setdefault(meaning, {})[_core.in_terms(name)] = None
    return [f"A filter dropped the guard{_on(list(names))}: {meaning}." for meaning, names in names_of.items()]


def _on(names: list[str]) -> str:
    named = [name for name in names if name]
    if not named:
        return ""
    left = len(named) - _LISTED
    more = f" and {left} more" if left > 0 else ""
    return f"{'s' if len(named) > 1 else ''} on {', '.join(named[:_LISTED])}{more}"


def of_values(listed: Iterable[Guard], code: types.CodeType) -> list[str]:
    """Returns sentences about arguments, globals that a function reads, and the state of the process, for those without
    a guard.

    Args:
        listed: the guards.
        code: the code of the function.
    """
    guards = list(listed)
    texts = [text for guard in guards for text in (guard.source, guard.text, *guard.members)]
    sentences = []
    count = code.co_argcount + code.co_kwonlyargcount
    for name in (*code.co_varnames[:count], *code.co_freevars):
        if not any(f"L[{name!r}]" in text for text in texts):
            sentences.append(
                f"No guard checks {name}: a call with another value, dtype, device or size of it will not be noticed."
            )
    read = [name for name in _core.global_names(code) if not hasattr(builtins, name)]
    missing = [name for name in read if not any(f"G[{name!r}]" in text for text in texts)]
    if missing:
        sentences.append(
            f"No guard checks the globals {', '.join(missing)}: that another object is in the place of one will not be noticed."
        )
    if not any(guard.kind == "GLOBAL_STATE" for guard in guards):
        sentences.append(f"No guard checks the state of the process: {_GLOBAL_STATE}.")
    return sentences
