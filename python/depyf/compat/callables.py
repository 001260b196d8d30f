"""Finds the function that a callable runs, if the callable is a result of `torch.compile`, a module, or another
wrapper.

A result of `torch.compile` refers to the callable that was compiled. For a callable that is no result of
`torch.compile`, the function is found through the attribute `__wrapped__`, the method `forward` of a torch module, or
the method `__call__`.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Any

from depyf.compat import private


def wrapped(wrapper: Any) -> Any:
    """Returns the callable that a wrapper wraps; None if the value is not a wrapper."""
    # Only the instance's own dictionary is read, because looking up an attribute could run code of the object.
    try:
        own = object.__getattribute__(wrapper, "__dict__")
    except AttributeError:
        return None
    if not isinstance(own, (dict, types.MappingProxyType)):
        return None
    modules = own.get("_modules")
    if isinstance(modules, dict) and "_orig_mod" in modules:  # The value is the result of torch.compile for a module.
        return modules["_orig_mod"]
    for name in ("__wrapped__", "_torchdynamo_orig_callable"):
        if callable(own.get(name)):
            return own[name]
    return None


def defined_call(value: Any) -> types.FunctionType | types.MethodType | None:
    """Returns the Python function that calling an instance runs: the `forward` of its class if the instance is a torch
    module, otherwise `__call__`. Returns None if `value` is itself a function, or if a call of `value` runs a function
    that is not written in Python."""
    if isinstance(value, types.FunctionType):
        return None
    for name in ("forward", "__call__") if is_module(value) else ("__call__",):
        call = inspect.getattr_static(type(value), name, None)
        if isinstance(call, (types.FunctionType, types.MethodType)):
            return call
    return None


def compiled_in(value: Any) -> Any:
    """Returns the callable that was passed to `torch.compile` to get `value`; for a module, the function or method
    whose frame Dynamo compiles.

    Returns None if `value` is not a result of `torch.compile`.
    """
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    if isinstance(own, types.MappingProxyType) or not isinstance(own, dict):
        return None
    modules = own.get("_modules")
    if isinstance(modules, dict) and "_orig_mod" in modules:
        module = modules["_orig_mod"]
        # For a module of torch's own, Dynamo compiles a wrapper function around the module; for any other module,
        # Dynamo compiles the module's `forward`.
        inner = compiled_in(own.get("forward"))
        return inner if isinstance(inner, types.FunctionType) else bound_call(module)
    if "_torchdynamo_orig_callable" not in own:
        return None
    if own.get("_torchdynamo_wrapper_id", id(value)) != id(value):
        return None  # The attribute was copied from another object, as functools.wraps does.
    inner = own["_torchdynamo_orig_callable"]
    if not callable(inner):
        private.not_found("_torchdynamo_orig_callable", f"is of type {type(inner).__name__}")
        return None
    return inner


def is_of_dynamo(scope: Mapping[str, Any]) -> bool:
    """True if `scope` contains the globals of a Python module of Dynamo's. For a compiled `nn.Module` whose class
    PyTorch itself defines, such as `nn.Sequential`, Dynamo compiles a wrapper function that is defined in a Python
    module of Dynamo's."""
    return str(scope.get("__name__")).startswith("torch._dynamo.")


def code_around(value: Any) -> types.CodeType | None:
    """Returns, for a result of `torch.compile`, the code of the wrapper function that Dynamo compiles around a module
    of PyTorch's own; None if Dynamo compiles the callable itself."""
    inner = compiled_in(value)
    return inner.__code__ if isinstance(inner, types.FunctionType) and is_of_dynamo(inner.__globals__) else None


def bound_call(value: Any) -> Any:
    """Returns the method that calling an instance runs, bound to the instance: `forward` for a torch module, otherwise
    `__call__`. Returns None if `value` is a function, or if the method is not written in Python."""
    call = defined_call(value)
    if call is None:
        return None
    own = getattr(value, "__dict__", {})
    replaced = own.get("forward") if isinstance(own, dict) and is_module(value) else None
    if replaced is not None:  # `forward` was set on this instance only.
        return replaced
    return call.__get__(value, type(value)) if isinstance(call, types.FunctionType) else call


def is_module(value: Any) -> bool:
    """True if a value is a torch module."""
    return inspect.getattr_static(type(value), "_call_impl", None) is not None
