"""The globals that Dynamo installs in the user's module: compiled graphs, resume functions and modules, which are
recognised by their names."""

from __future__ import annotations

import contextlib
import sys
import types
from typing import Any

READING_CALLS = frozenset(
    {
        "call_size",
        "call_stride",
        "call_storage_offset",
        "record_pregraph_bytecode_enter",
        "record_pregraph_bytecode_exit",
    }
)
"""The functions of Dynamo that transformed code calls to read sizes of tensors, and to mark the beginning of
transformed code for a profiler."""


def resume_code(value: object) -> types.CodeType | None:
    """Returns the code object of the resume function behind a `__resume_at_*` global; None if the value is not a
    function. A `__resume_at_*` global is the resume function itself or, if the resume function has free variables, a
    factory that creates the resume function."""
    if not isinstance(value, types.FunctionType):
        return None
    if value.__code__.co_name.startswith(("torch_dynamo_resume_in", "resume_in")):
        return value.__code__
    for cell in value.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        if type(content) is types.CodeType:
            return content
    for default in value.__defaults__ or ():  # In a restored factory, a default is the code.
        if type(default) is types.CodeType:
            return default
    return value.__code__


def resume_globals(value: types.FunctionType) -> dict[str, Any]:
    """Returns the globals of the resume function that is called through a `__resume_at_*` global. If `value` is a
    factory of resume functions, the globals are in one of its cells."""
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
        if name == "f_globals":
            with contextlib.suppress(ValueError):
                if type(cell.cell_contents) is dict:
                    return cell.cell_contents
    return value.__globals__


def is_resume_name(name: str) -> bool:
    """True if transformed code looks up a resume function under the global name `name`."""
    return name.startswith("__resume_at_")


# The prefixes of the globals that Dynamo puts into the user's module, and removes when no code that reads them is left.
_INSTALLED = ("__compiled_fn_", "__resume_at_", "__import_", "__builtins_dict__")


def is_made(code: types.CodeType) -> bool:
    """True if Dynamo generated the code, which is recognised by its calls of a compiled graph or a resume function."""
    return any(name.startswith(("__compiled_fn_", "__resume_at_")) for name in code.co_names)


def installed_names(code: types.CodeType) -> frozenset[str]:
    """Returns the names of the globals that `code` reads and that Dynamo has installed; an empty set if Dynamo did not
    generate `code`."""
    if not is_made(code):
        return frozenset()
    return frozenset(name for name in code.co_names if name.startswith(_INSTALLED))


def is_resume_code(code: types.CodeType) -> bool:
    """True if `code` is the code of a resume function."""
    return code.co_name.startswith(("torch_dynamo_resume_in_", "resume_in_"))


def find_global(name: str) -> object:
    """Returns the value of a global whose name is unique in the process, from the module that has the global; None if
    no module has it."""
    for module in list(sys.modules.values()):
        table = getattr(module, "__dict__", None)
        if type(table) is dict and name in table:
            return table[name]
    return None
