"""Names functions for readers: a function has its qualified name, and the name of a wrapper also contains the name of
the function that it wraps.

While Dynamo compiles, only the code object of a function is available. In CPython 3.10, a code object contains no
qualified name, so the name is looked up in the class of `self` and in classes among the globals. No code of the program
runs while a name is determined.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any

from depyf import names

_RESUME = re.compile(r"(?:torch_dynamo_)?resume_in_(?P<name>.*)_at_(?P<line>\d+)$")
_OF = " of "
_AROUND = " around "
_MADE_BY_DATACLASSES = (
    "__create_fn__.<locals>."  # the beginning of `co_qualname` of a dataclass's generated methods, from 3.11 on
)
_MAX_NESTING = 3  # the levels of nested classes that are searched for a method
_MAX_STEPS = 20  # the maximum number of steps from a wrapper to the function that it wraps
_PASSES_ON = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def base_name(code_name: str) -> str:
    """Returns the name of the function that a resume function continues; the name of any other function unchanged."""
    match = _RESUME.match(code_name)
    return match["name"] if match else code_name


def resume_line(code_name: str) -> int | None:
    """Returns the line number that the name of a resume function contains; None for any other function."""
    match = _RESUME.match(code_name)
    return int(match["line"]) if match else None


def of_code(code: types.CodeType) -> str:
    """Returns the qualified name of a function, as far as its code object contains it.

    A resume function has the name of the function that it continues.
    """
    qualified = str(getattr(code, "co_qualname", code.co_name))
    scope, dot, last = qualified.rpartition(".")
    return names.one_line(f"{scope}{dot}{base_name(last)}")


def of_call(
    code: types.CodeType, local: Mapping[str, Any], scope: Mapping[str, Any], *, is_of_pytorch: bool = False
) -> str:
    """Returns the name of the function that a call runs.

    Args:
        code: the code of the function.
        local: the call's local variables, including those of enclosing functions.
        scope: the function's globals.
        is_of_pytorch: true if PyTorch defines the function. If PyTorch defines a wrapper, only the name of the wrapped
            function is returned, because users do not know PyTorch's wrappers.
    """
    name = of_code(code)
    receiver = _receiver(code, local)
    if "." not in name or name.startswith(_MADE_BY_DATACLASSES):
        name = _in_class(code, receiver, scope) or name
    if receiver is not None and not _is_inherited_name(name, receiver):
        name += f"{_OF}{_class_name(receiver)}"
    wrapped = _wrapped_name(code, local)
    if wrapped is None:
        return name
    return wrapped if is_of_pytorch else f"{name}{_AROUND}{wrapped}"


def of_resumed(own: str, beginning: str, code: types.CodeType, local: Mapping[str, Any]) -> str:
    """Returns the name for a call of a resume function, derived from the name of the function that it continues.

    Args:
        own: the result of `of_call` for the resume function. The name in `own` lacks the function that a wrapper wraps,
            and in CPython 3.10 also the enclosing scopes.
        beginning: the name of the function that the resume function continues. The name in `beginning` was determined
            when the function was compiled, which can have been in another call than the call that is resumed.
        code: the code of the resume function.
        local: the local variables of the resume function's call.
    """
    if _OF in own:
        return own
    wrapper, is_wrapper, _ = beginning.partition(_AROUND)
    if is_wrapper:
        wrapped = [value for name in code.co_freevars if _has_name(value := local.get(name))]
        inner = of_callable(wrapped[0]) if len(wrapped) == 1 else None
        if inner is not None:
            return f"{wrapper}{_AROUND}{inner}"
    return beginning


def of_callable(value: object) -> str | None:
    """Returns the name of a function, method, class, partial or module object; None for other objects."""
    for _ in range(_MAX_STEPS):
        if isinstance(value, types.FunctionType):
            inner = value.__dict__.get("__wrapped__")
            if inner is None and "<locals>" in value.__qualname__:
                inner = _wrapped_by(value.__code__, _cells(value))
            if inner is None:
                return names.one_line(value.__qualname__)
            value = inner
        elif isinstance(value, (types.MethodType, staticmethod, classmethod)):
            value = value.__func__
        elif type(value) is functools.partial:
            value = value.func
        elif isinstance(value, type):
            return _class_name(value)
        elif isinstance(value, types.BuiltinFunctionType):
            return names.one_line(value.__qualname__)
        elif _is_module(value):
            modules = object.__getattribute__(value, "__dict__").get("_modules")
            compiled = modules.get("_orig_mod") if isinstance(modules, dict) else None
            if compiled is None:
                return f"{_class_name(type(value))}.forward"
            value = compiled
        elif isinstance(call := _call_of(value), types.FunctionType):
            return names.one_line(call.__qualname__)
        else:
            return None
    return None


def of_module_class(kind: type | None) -> str | None:
    """Returns `CLASS.forward` for a subclass of `torch.nn.Module`; None for any other class."""
    is_of_modules = kind is not None and inspect.getattr_static(kind, "_call_impl", None) is not None
    return f"{_class_name(kind)}.forward" if kind is not None and is_of_modules else None


def _receiver(code: types.CodeType, local: Mapping[str, Any]) -> type | None:
    """Returns the class of the variable `self`, or the value of the first parameter `cls`; None if the function has
    neither variable."""
    if "self" in code.co_varnames or "self" in code.co_cellvars:
        value = local.get("self")
        return None if value is None else type(value)
    value = local.get("cls") if "cls" in code.co_varnames[:1] else None
    return value if isinstance(value, type) else None


def _in_class(code: types.CodeType, receiver: type | None, scope: Mapping[str, Any]) -> str | None:
    """Returns the qualified name of a method in the class that defines it; None if no class is known to define it."""
    last = base_name(code.co_name)
    classes = [] if receiver is None else _bases(receiver)
    todo = [value for value in list(scope.values()) if isinstance(value, type)]
    for _ in range(_MAX_NESTING):
        classes += todo
        todo = [value for owner in todo for value in list(_members(owner).values()) if isinstance(value, type)]
    for owner in classes:
        is_resume = last != code.co_name
        for function in _functions_behind(_members(owner).get(last)):
            own = function.__code__
            if own is code or (is_resume and own.co_filename == code.co_filename and own.co_name == last):
                return names.one_line(function.__qualname__)
    return None


def _functions_behind(member: object) -> Iterator[types.FunctionType]:
    """Yields the function of a class's member, and the functions that it wraps."""
    for _ in range(_MAX_STEPS):
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        if not isinstance(member, types.FunctionType):
            return
        yield member
        member = member.__dict__.get("__wrapped__")


def _is_inherited_name(name: str, receiver: type) -> bool:
    """True if a name contains the receiver's class, or is not the name of a method of the receiver. False if the name
    is that of a method in a base class of the receiver, so that the receiver's class is missing in the name."""
    owner = name.rpartition(".")[0]
    if not owner or owner.endswith("<locals>") or owner == _class_name(receiver):
        return True
    return not any(owner == _class_name(base) for base in _bases(receiver))


def _wrapped_name(code: types.CodeType, local: Mapping[str, Any]) -> str | None:
    """Returns the name of the callable that a wrapper calls; None if the code is not that of a wrapper."""
    inner = _wrapped_by(code, local)
    return None if inner is None else of_callable(inner)


def _wrapped_by(code: types.CodeType, variables: Mapping[str, Any]) -> object | None:
    """Returns the callable that a wrapper wraps; None if the code is not that of a wrapper.

    A function counts as a wrapper if it takes `*args, **kwargs` and refers to exactly one callable of an enclosing
    scope. A function with other parameters counts as a wrapper if it has replaced a callable of an enclosing scope: the
    class or module that defines the callable contains the function under the callable's name. An example of a wrapper
    is the inner function of a decorator.
    """
    values = [variables.get(name) for name in code.co_freevars]
    candidates = [value for value in values if _has_name(value)]
    candidates = candidates or [value for value in values if isinstance(_call_of(value), types.FunctionType)]
    replaced = next((value for value in candidates if _is_replaced_by(value, code)), None)
    if replaced is None and len(candidates) == 1 and code.co_flags & _PASSES_ON == _PASSES_ON:
        return candidates[0]
    return replaced


def _has_name(value: object) -> bool:
    """True for a function, a bound method, a partial object or a PyTorch module, which `of_callable` can name."""
    return (
        isinstance(value, (types.FunctionType, types.MethodType))
        or type(value) is functools.partial
        or _is_module(value)
    )


def _is_replaced_by(value: object, code: types.CodeType) -> bool:
    """True if the class or module of a function contains, under the function's name, a function with this code."""
    function = value.__func__ if isinstance(value, types.MethodType) else value
    if not isinstance(function, types.FunctionType):
        return False
    *owners, last = function.__qualname__.split(".")
    table: Mapping[str, Any] = function.__globals__
    for name in owners:
        owner = table.get(name)
        if not isinstance(owner, type):
            return False
        table = _members(owner)
    return any(outer.__code__ is code for outer in _functions_behind(table.get(last)))


def _cells(function: types.FunctionType) -> dict[str, Any]:
    """Returns the values of the variables of enclosing scopes that a function refers to, without variables that have no
    value."""
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            values[name] = cell.cell_contents
        except ValueError:
            continue
    return values


def _call_of(value: object) -> object:
    """Returns the method of an object's class that is executed when the object is called."""
    return None if isinstance(value, type) else inspect.getattr_static(type(value), "__call__", None)


def _is_module(value: object) -> bool:
    """True for an instance of `torch.nn.Module`."""
    return inspect.getattr_static(type(value), "_call_impl", None) is not None


# The following functions read attributes of a class without calling methods of the class's metaclass, which could run
# code of the program.


def _class_name(owner: type) -> str:
    return names.one_line(str(type.__getattribute__(owner, "__qualname__")))


def _bases(owner: type) -> list[type]:
    return list(type.__getattribute__(owner, "__mro__"))


def _members(owner: type) -> Mapping[str, Any]:
    members: Mapping[str, Any] = type.__getattribute__(owner, "__dict__")
    return members
