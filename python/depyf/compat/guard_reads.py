"""The private names that Dynamo's guards refer to: the state in which they read values, and their helper functions."""

from __future__ import annotations

import contextlib
from typing import Any

from depyf.compat import private


def quiet() -> contextlib.AbstractContextManager[Any]:
    """Returns a context with the state in which guards read values, which ignores every `__torch_function__`."""
    global _quiet
    if _quiet is None:
        _quiet = private.get("torch._C:DisableTorchFunction") or contextlib.nullcontext
    return _quiet()  # type: ignore[no-any-return]


_quiet: Any = None
"""The class of the context that `quiet` returns, looked up once. `_quiet` has no lock, because all threads find the
same class; nothing clears the variable, and a forked child continues with its copy."""


def is_size_function(name: str) -> bool:
    """True if a name in a condition on sizes is that of a function that PyTorch defines for such conditions."""
    return name in (private.get("torch.fx.experimental.symbolic_shapes:SYMPY_INTERP") or ())


def helper(name: str) -> Any:
    """Returns the helper function that Dynamo's conditions call by this name; None if there is none."""
    return private.call("torch._dynamo.guards:_get_closure_vars", otherwise={}).get(name)


def has_no_modes() -> bool:
    """True if no torch function mode is active; False also if PyTorch does not show the active modes."""
    return bool(private.call("torch._C:_len_torch_function_stack") == 0)


def is_key_set(kind: Any) -> bool:
    """True if `kind` is the class `DispatchKeySet` of PyTorch."""
    return kind is not None and kind is private.get("torch._C:DispatchKeySet")


def is_inference_mode() -> bool:
    """True if inference mode is active."""
    return bool(private.call("torch:is_inference_mode_enabled"))
