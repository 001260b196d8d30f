"""From a code object, or whatever has one, to Python source."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable
from typing import Any

from depyf.compat import callables
from depyf.decompilation import decompile as decompile_code
from depyf.decompilation import type_name

__all__ = ["DecompilationError", "Decompiler", "decompile", "find_code", "source_of"]


class DecompilationError(Exception):
    """The older tool's error. Kept for `except` clauses; nothing here raises it, as every code object decompiles."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return f"DecompilationError: {self.message}"


def decompile(code_or_callable: types.CodeType | Callable[..., Any], *, style: str | None = None) -> str:
    """Python source for a code object or for the innermost function behind a callable.

    Methods, `functools.partial`, wrappers with `__wrapped__`, results of `torch.compile` and objects with a `__call__`
    written in Python are followed to the function that they run. Names that Dynamo ends with a uuid are shown without
    it. Constants that are no literals (a dtype, a module's globals) appear as `__const_N`; comments at the top say what
    they are. `compile_like` turns the text back into code.

    The first line says whether the source is proved to do what the bytecode does: it is compiled back, and both code
    objects are compared by `prove`. Where they are not equivalent it says where they part, and why.

    Args:
        code_or_callable: what to decompile.
        style: "readable", or "exact", which keeps each effect as a statement of its own in the order of the bytecode; if
            it is not given, "exact" where the environment has `DEPYF_REMOVE_TEMP=0`, else "readable".

    Raises:
        TypeError: there is no Python code behind the argument.
        ValueError: an unknown style.
    """
    return decompile_code(find_code(code_or_callable), style=style).source


def source_of(code: types.CodeType, *, name: str | None = None) -> str:
    """The source that `decompile` returns for a code object, its function named `name` if that is given."""
    return decompile_code(code, name=name).source


def find_code(thing: types.CodeType | Callable[..., Any]) -> types.CodeType:
    """The code object behind a callable; `thing` itself if it is one.

    Raises:
        TypeError: there is none, as for classes and functions written in C.
    """
    seen: set[int] = set()
    at: Any = thing
    while id(at) not in seen:
        seen.add(id(at))
        if isinstance(at, types.CodeType):
            return at
        if isinstance(at, types.MethodType):
            at = at.__func__
        elif isinstance(at, (functools.partial, functools.partialmethod)):
            at = at.func
        elif isinstance(at, type):
            raise TypeError(f"cannot decompile the class {at.__qualname__}: give one of its methods")
        elif (inner := callables.wrapped(at)) is not None or (inner := callables.defined_call(at)) is not None:
            at = inner
        elif isinstance(at, types.FunctionType):
            return at.__code__
    raise TypeError(f"cannot decompile {type_name(thing)}: there is no Python code behind it")


class Decompiler:
    """The older tool's class for one code object; new code calls `decompile` and `compile_like`.

    Args:
        code: a code object or a callable.

    Raises:
        TypeError: there is no Python code behind `code`.
    """

    def __init__(self, code: types.CodeType | Callable[..., Any]) -> None:
        self.code = find_code(code)

    def decompile(self, indentation: int = 4, temp_prefix: str = "__temp_", overwite_fn_name: str | None = None) -> str:
        """The source. `indentation` and `temp_prefix` have no effect; `overwite_fn_name` (sic) names the function."""
        return source_of(self.code, name=overwite_fn_name)

    @staticmethod
    def decompile_and_compile_like(
        code_to_decompile: types.CodeType,
        reference_code: types.CodeType,
        indentation: int = 4,
        temp_prefix: str = "__temp_",
        filepath_template: str | None = None,
    ) -> types.CodeType:
        """Decompiles one code object and compiles the text so that it stands in for another.

        With `filepath_template`, which holds one `%s`, the text goes to the first such file that is absent or has the
        same content, and the code carries its name.

        Raises:
            ValueError: the code cannot stand in for `reference_code`.
            OSError: the file cannot be written.
        """
        from depyf.recompile import compile_checked

        source = source_of(code_to_decompile)
        filename = None
        if filepath_template is not None:
            from depyf.files import claim

            path, _ = claim(lambda n: filepath_template % n, lambda n: source)
            filename = str(path)
        return compile_checked(source, reference_code, constants_of=code_to_decompile, filename=filename)

    @staticmethod
    def supported_opnames() -> list[str]:
        """The names of the instructions that can be decompiled: all that this Python has."""
        return sorted(name for name in dis.opmap if not name.startswith("<"))

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decompiler) and self.code is other.code
