"""The private names that Dynamo's guards refer to: the state of PyTorch in which guards read values, and the helper
functions that guards call."""

from __future__ import annotations

import contextlib
from typing import Any

from depyf.compat import private


def quiet() -> contextlib.AbstractContextManager[Any]:
    """Returns a context manager that sets the state in which guards read values: no `__torch_function__` is called in
    it."""
    global _quiet
    if _quiet is None:
        _quiet = private.get("torch._C:DisableTorchFunction") or contextlib.nullcontext
    return _quiet()  # type: ignore[no-any-return]


_quiet: Any = None
"""The class of the context manager that `quiet` returns, which disables `__torch_function__`; the class is looked up
once. `_quiet` has no lock, because all threads find the same class; nothing clears the variable, and a forked child
continues with its copy."""


def is_size_function(name: str) -> bool:
    """True if PyTorch defines a function with this name for conditions on sizes."""
    return name in (private.get("torch.fx.experimental.symbolic_shapes:SYMPY_INTERP") or ())


def helper(name: str) -> Any:
    """Returns the helper function that Dynamo's conditions call by this name; None if no helper function has the
    name."""
    return private.call("torch._dynamo.guards:_get_closure_vars", otherwise={}).get(name)


def has_no_modes() -> bool:
    """True if no torch function mode is active; False also if this PyTorch does not report the active modes."""
    return bool(private.call("torch._C:_len_torch_function_stack") == 0)


def is_key_set(kind: Any) -> bool:
    """True if `kind` is the class `DispatchKeySet` of PyTorch."""
    return kind is not None and kind is private.get("torch._C:DispatchKeySet")


def is_inference_mode() -> bool:
    """True if inference mode is active."""
    return bool(private.call("torch:is_inference_mode_enabled"))
