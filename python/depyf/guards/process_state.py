"""Describes the state of the process that a guard of PyTorch checks (settings such as grad mode and autocast), with
readable names and values."""

from __future__ import annotations

import json
import re
from typing import Any

from depyf.compat import guard_reads
from depyf.compat.guard_words import MODE_STACK
from depyf.compat.private import guarded
from depyf.guards.leaf_forms import STATE_OF_PROCESS
from depyf.guards.plain_python import value_of

# The device types for which PyTorch keeps a state of autocast, in the order in which `c10` lists them.
_AUTOCAST_DEVICES = ("the CPU", "CUDA", "MTIA", "MAIA", "XPU", "IPU", "HPU", "XLA", "the custom device", "MPS")
# Maps numbers of c10::ScalarType to dtypes.
_DTYPES = {5: "float16", 6: "float32", 7: "float64", 15: "bfloat16", 23: "float8_e5m2", 24: "float8_e4m3fn"}
_NAMES = {
    "grad_mode": "grad mode",
    "torch_function": "dispatch to __torch_function__",
    "torch_function_all_disabled": "all of __torch_function__ disabled",
    "deterministic_algorithms": "deterministic algorithms",
    "deterministic_algorithms_warn_only": "deterministic algorithms that only warn",
    "allow_tf32": "TF32 in matrix products",
    "allow_fp16_reduce": "reductions in float16",
    "allow_bf16_reduce": "reductions in bfloat16",
    "num_threads": "number of threads",
    "default_dtype": "default dtype",
}
AUTOCAST = "autocast"
GRAD_MODE = "grad mode"
OFF_IN_INFERENCE_MODE = "off (inference mode)"


def compiled_with(text: str) -> dict[str, str] | None:
    """Returns the readable name and the value of each setting that a guard on the state of the process requires.

    Args:
        text: the text of the guard as Dynamo writes it.

    Returns:
        A dict from the readable names of settings to their values; None if the text of the guard does not contain the
        settings.
    """
    try:
        state = json.loads(text.partition(" against ")[2])
    except ValueError:
        return None
    return _in_words(state) if isinstance(state, dict) else None


@guarded()
def now() -> dict[str, str] | None:
    """Returns the readable name and the value of each setting in the current state of the process; None if this PyTorch
    gives no access to the state."""
    state = value_of(STATE_OF_PROCESS)
    if not isinstance(state, dict):
        return None
    words = _in_words(state)
    if words.get(GRAD_MODE) == "off" and guard_reads.is_inference_mode():
        words[GRAD_MODE] = OFF_IN_INFERENCE_MODE
    return words


def reason_in_words(reason: str) -> str:
    """Returns PyTorch's own reason for a recompilation, with readable names of the settings of the process. A reason
    that names no settings of the process is returned unchanged."""
    begin, sign, names = reason.partition("GLOBAL_STATE changed: ")
    if sign:
        changed = (_changed(name) for name in names.split())
        return f"{begin}{', '.join(dict.fromkeys(changed))} changed"
    return reason.replace("___check_torch_function_mode_stack()", "the torch function modes changed")


_AUTOCAST_WORD = re.compile(r"^autocast\((\w+)\)_\w+$")


def _changed(name: str) -> str:
    match = _AUTOCAST_WORD.match(name)
    if match is None:
        return _NAMES.get(name, name.replace("_", " "))
    return f"{AUTOCAST} on {'the CPU' if match[1] == 'cpu' else match[1].upper()}"


def modes() -> list[str] | None:
    """Returns the names of the classes of the active torch function modes, the outermost first; None if the modes are
    unknown.

    The mode that sets the default device is written as `device(...)`.
    """
    stack = value_of(MODE_STACK)
    return [_mode(mode) for mode in stack] if isinstance(stack, list) else None


def _mode(mode: Any) -> str:
    name = type(mode).__name__
    return f"device({str(mode.device)!r})" if name == "DeviceContext" and hasattr(mode, "device") else name


def _in_words(state: dict[str, Any]) -> dict[str, str]:
    words = {}
    for name, value in state.items():
        if name == "autocast_state" and isinstance(value, dict):
            words.update(_autocast(value))
        elif name == "default_dtype":
            words[_NAMES[name]] = f"torch.{_DTYPES[value]}" if value in _DTYPES else f"dtype number {value}"
        else:
            is_switch = isinstance(value, bool) or name.startswith("allow_")
            words[_NAMES.get(name, name.replace("_", " "))] = ("on" if value else "off") if is_switch else str(value)
    return words


def _autocast(state: dict[str, Any]) -> dict[str, str]:
    words = {}
    for number, (enabled, dtype) in enumerate(zip(state.get("enabled", ()), state.get("dtype", ()), strict=False)):
        device = _AUTOCAST_DEVICES[number] if number < len(_AUTOCAST_DEVICES) else f"device type {number}"
        words[f"{AUTOCAST} on {device}"] = _DTYPES.get(dtype, f"dtype number {dtype}") if enabled else "off"
    if "cached_enabled" in state:
        words[f"{AUTOCAST}'s cache of weights"] = "on" if state["cached_enabled"] else "off"
    return words
