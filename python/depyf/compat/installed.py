"""The globals that Dynamo installs in the user's module: compiled graphs, resume functions and modules, known by their names."""

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
"""The functions of Dynamo's by which transformed code reads sizes of tensors, and marks for a profiler where it begins."""


def resume_code(value: object) -> types.CodeType | None:
    """Returns the code object behind a `__resume_at_*` global: a function, or a factory of one if that has free
    variables."""
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
    for default in value.__defaults__ or ():  # a factory that PyTorch makes where it restores what it has in its cache
        if type(default) is types.CodeType:
            return default
    return value.__code__


def resume_globals(value: types.FunctionType) -> dict[str, Any]:
    """Returns the globals of the resume function behind a `__resume_at_*` global; a factory of one keeps them in a
    cell."""
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
        if name == "f_globals":
            with contextlib.suppress(ValueError):
                if type(cell.cell_contents) is dict:
                    return cell.cell_contents
    return value.__globals__


def is_resume_name(name: str) -> bool:
    """True if `name` is the global under which a transformed function finds a resume function."""
    return name.startswith("__resume_at_")


# The beginnings of the names of globals that Dynamo puts into the user's module, and takes away when nothing runs
# that reads them any more.
_INSTALLED = ("__compiled_fn_", "__resume_at_", "__import_", "__builtins_dict__")


def is_made(code: types.CodeType) -> bool:
    """True if Dynamo made the code: it calls a compiled graph or a resume function."""
    return any(name.startswith(("__compiled_fn_", "__resume_at_")) for name in code.co_names)


def installed_names(code: types.CodeType) -> frozenset[str]:
    """Returns the names of those globals of Dynamo's code that Dynamo itself has installed."""
    if not is_made(code):
        return frozenset()
    return frozenset(name for name in code.co_names if name.startswith(_INSTALLED))


def is_resume_code(code: types.CodeType) -> bool:
    """True if this is the code of a resume function."""
    return code.co_name.startswith(("torch_dynamo_resume_in_", "resume_in_"))


def find_global(name: str) -> object:
    """The value of a global whose name is unique in the process, in whichever module it is; None if in none."""
    for module in list(sys.modules.values()):
        table = getattr(module, "__dict__", None)
        if type(table) is dict and name in table:
            return table[name]
    return None
