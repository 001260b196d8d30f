"""What is behind a callable, where PyTorch has its own ways to wrap one.

Relied on: `_torchdynamo_orig_callable` and `_orig_mod`, by which the results of `torch.compile` refer to what was
compiled; `_call_impl`, which tells a module. Where they are missing, `__wrapped__` and `__call__` are followed as for
any other callable.
"""

from __future__ import annotations

import inspect
import types
from typing import Any


def wrapped(thing: Any) -> Any:
    """What a wrapper wraps; None if it is none."""
    # An instance's own dictionary: looking up an attribute could run code of an arbitrary object.
    try:
        own = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None
    if not isinstance(own, (dict, types.MappingProxyType)):
        return None
    modules = own.get("_modules")
    if isinstance(modules, dict) and "_orig_mod" in modules:  # torch.compile of a module
        return modules["_orig_mod"]
    for name in ("_torchdynamo_orig_callable", "__wrapped__"):
        if name in own:
            return own[name]
    return None


def defined_call(thing: Any) -> types.FunctionType | types.MethodType | None:
    """The Python function that calling an instance runs: its `forward` if it is a torch module, else its `__call__`."""
    if isinstance(thing, types.FunctionType):
        return None
    is_module = inspect.getattr_static(type(thing), "_call_impl", None) is not None
    for name in ("forward", "__call__") if is_module else ("__call__",):
        call = inspect.getattr_static(type(thing), name, None)
        if isinstance(call, (types.FunctionType, types.MethodType)):
            return call
    return None
