"""Decompiles code objects, and objects that contain a code object, to Python source."""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

from depyf.compat import ahead, callables, precompiled
from depyf.decompilation import PROVED, Decompilation, describe, type_name, without_encoding
from depyf.decompilation import decompile as decompile_code
from depyf.files import claim
from depyf.recompile import compile_checked
from depyf.signatures import Expressions, definition_alone, head_comments, with_signature

__all__ = ["DecompilationError", "Decompiler", "decompile", "find_code", "source_of"]


class DecompilationError(Exception):
    """The error of the original depyf, kept for programs that catch it. No function of this package raises
    `DecompilationError`, because every code object can be decompiled."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return f"DecompilationError: {self.message}"


def decompile(
    code_or_callable: types.CodeType | Callable[..., Any] | types.ModuleType, *, style: str | None = None
) -> str:
    """Returns Python source for a code object, for the innermost function behind a callable, for a class or for a
    module.

    A function that was compiled ahead of time by `aot_compile`, or loaded from its file, is shown as the transformed
    code that it runs. Methods, properties, `functools.partial`, wrappers with `__wrapped__`, results of `torch.compile`
    and objects with a `__call__` written in Python are followed to the function that they run; generators and
    coroutines are followed to their code. A function is shown with its defaults, annotations and type parameters. If no
    expression denotes a default or an annotation, the value gets a name, which a comment at the top explains. A class
    is shown with its own attributes, and a module as the code that its loader returns. Names that Dynamo ends with a
    uuid are shown without the uuid. Constants without a literal (a dtype, or a module's globals) appear as `__const_N`,
    which comments at the top explain. `compile_like` compiles the result back to a code object. If the argument is a
    code object, the source binds its free variables in an enclosing function, and imports the features of `__future__`
    that it was compiled with.

    The first line of the source states whether the source is proved to do what the bytecode does: the source is
    compiled back, and `prove` compares both code objects. If the code that the source compiles to is not proved
    equivalent to the original code, the first line states the place of the difference and the reason.

    Args:
        code_or_callable: the object to decompile.
        style: "readable", or "exact", which keeps each effect as a statement of its own in the order of the bytecode.
            The default is "exact" if the environment has `DEPYF_REMOVE_TEMP=0`, and otherwise "readable".

    Raises:
        TypeError: there is no Python code behind the argument.
        ValueError: the style is unknown.

    Example:

        print(depyf.decompile(function))
    """
    if isinstance(code_or_callable, types.ModuleType):
        return decompile_code(_module_code(code_or_callable), style=style).source
    if isinstance(code_or_callable, type):
        return class_source(code_or_callable, style=style)
    innermost = _innermost(code_or_callable)
    if isinstance(innermost, types.FunctionType):
        return function_source(innermost, style=style)
    is_code = isinstance(code_or_callable, types.CodeType)
    return decompile_code(innermost, style=style, standalone=is_code).source


def function_source(function: types.FunctionType, *, style: str | None = None) -> str:
    """Returns the source of one function, with the defaults, annotations and type parameters, which only the function
    object contains."""
    result = decompile_code(function.__code__, style=style)
    body, unnamed = with_signature(result.body, function)
    return "\n".join([*_head(result), *head_comments(unnamed), body])


def _head(result: Decompilation) -> list[str]:
    return result.source.split("\n")[: result.head]


def _module_code(module: types.ModuleType) -> types.CodeType:
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    try:
        code = loader.get_code(module.__name__)  # type: ignore[union-attr]
    except (AttributeError, ImportError, OSError, SyntaxError):
        code = None
    if not isinstance(code, types.CodeType):
        raise TypeError(f"cannot decompile the module {module.__name__}: its loader returns no Python code")
    return code


def source_of(code: types.CodeType, *, name: str | None = None) -> str:
    """Returns the source that `decompile` returns for a code object, with the function name `name` if that is given."""
    return decompile_code(code, name=name).source


def find_code(value: types.CodeType | Callable[..., Any]) -> types.CodeType:
    """Returns the code object behind a callable; `value` itself if it is a code object.

    Raises:
        TypeError: there is no code object, as for classes and functions written in C.
    """
    innermost = _innermost(value)
    return innermost if isinstance(innermost, types.CodeType) else innermost.__code__


def _innermost(value: Any) -> types.CodeType | types.FunctionType:
    """Returns the function that runs when `value` is called or read, or the code object if there is no function."""
    seen: set[int] = set()
    candidate: Any = value
    while id(candidate) not in seen:
        seen.add(id(candidate))
        if isinstance(candidate, types.CodeType):
            return candidate
        if isinstance(candidate, (types.MethodType, classmethod, staticmethod)):
            candidate = candidate.__func__
        elif isinstance(candidate, property):
            candidate = candidate.fget or candidate.fset or candidate.fdel
        elif isinstance(candidate, functools.cached_property):
            candidate = candidate.func
        elif isinstance(candidate, types.GeneratorType):
            return candidate.gi_code
        elif isinstance(candidate, types.CoroutineType):
            return candidate.cr_code
        elif isinstance(candidate, types.AsyncGeneratorType):
            return candidate.ag_code
        elif isinstance(candidate, (functools.partial, functools.partialmethod)):
            candidate = candidate.func
        elif isinstance(candidate, type):
            raise TypeError(
                f"cannot decompile the class {candidate.__qualname__} as one function: it has no code of its own"
            )
        elif compiled := ahead.functions(candidate):
            candidate = compiled[0].function
        elif (loaded := precompiled.loaded_function(candidate)) is not None:
            candidate = loaded
        elif (inner := callables.wrapped(candidate)) is not None or (
            inner := callables.defined_call(candidate)
        ) is not None:
            candidate = inner
        elif isinstance(candidate, types.FunctionType):
            return candidate
    raise TypeError(f"cannot decompile {type_name(value)}: it has no Python code")


def class_source(cls: type, *, style: str | None = None) -> str:
    """Returns a class as a class statement, with its bases and its own members.

    Methods, static and class methods and properties are shown with their source; other attributes are shown with an
    expression for their value, or with a name that a comment at the top explains. The code of the class body does not
    exist at run time, so the members are in the order of the class's `__dict__`.

    Raises:
        TypeError: nothing in the class is written in Python.
    """
    return _ClassText(cls, style).text()


class _ClassText:
    """Writes one class, whose attributes are read from its `__dict__`, so that no descriptor runs."""

    # The attributes that a class statement creates implicitly.
    _IMPLIED = frozenset(
        ("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__")
        + ("__annotate__", "__annotate_func__", "__annotations_cache__", "__classdictcell__", "__type_params__")
    )

    def __init__(self, cls: type, style: str | None) -> None:
        self._cls = cls
        self._style = style
        module = sys.modules.get(type.__getattribute__(cls, "__module__"))
        self._expressions = Expressions(dict(vars(module)) if module is not None else {})
        self._proved = self._count = 0
        self._comments: list[str] = []

    def text(self) -> str:
        own = dict(type.__getattribute__(self._cls, "__dict__"))
        if (
            not any(self._functions(value) for value in own.values())
            and "__weakref__" not in own
            and "__dict__" not in own
        ):
            raise TypeError(f"cannot decompile the class {self._cls.__qualname__}: nothing in it is written in Python")
        lines: list[str] = []
        doc = own.get("__doc__")
        if type(doc) is str:
            lines.append(f"    {doc!r}")
        slots = own.get("__slots__", ())
        hidden = {*self._IMPLIED, *([slots] if type(slots) is str else slots if type(slots) in (tuple, list) else ())}
        for name, value in own.items():
            if name not in hidden:
                lines += self._member(name, value)
        bases = [self._expressions.text(base, "base") for base in self._cls.__bases__ if base is not object]
        if type(self._cls) is not type:
            bases.append(f"metaclass={self._expressions.text(type(self._cls), 'metaclass')}")
        name = type.__getattribute__(self._cls, "__name__")
        head = [f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"]
        body = "\n".join(head + (lines or ["    pass"]))
        first = PROVED if self._proved == self._count else "# not proved"
        comments = [f"{first}: {self._proved} of {self._count} functions", *self._comments]
        comments += head_comments(self._expressions.unnamed)
        return "\n".join([*map(without_encoding, comments), body, ""])

    @staticmethod
    def _functions(value: object) -> list[tuple[str, types.FunctionType]]:
        """Returns (decorator, function) for each function of a member. In the result, the decorators `.setter` and
        `.deleter` lack the member's name before the dot."""
        if isinstance(value, types.FunctionType):
            return [("", value)]
        if type(value) in (classmethod, staticmethod):
            inner = value.__func__  # type: ignore[attr-defined]
            return [(type(value).__name__, inner)] if isinstance(inner, types.FunctionType) else []
        if type(value) is functools.cached_property:
            return [("functools.cached_property", value.func)] if isinstance(value.func, types.FunctionType) else []
        if type(value) is property:
            parts = (("property", value.fget), (".setter", value.fset), (".deleter", value.fdel))
            return [(decorator, part) for decorator, part in parts if isinstance(part, types.FunctionType)]
        return []

    def _member(self, name: str, value: object) -> list[str]:
        functions = self._functions(value)
        if not functions:
            text = self._expressions.text(value, f"value_{name}" if name.isidentifier() else "value")
            return [f"    {name} = {text}" if name.isidentifier() else f"    # {name!r}: {describe(value)}"]
        lines: list[str] = []
        for decorator, function in functions:
            lines.append("")
            if decorator:
                lines.append(f"    @{name}{decorator}" if decorator.startswith(".") else f"    @{decorator}")
            lines += self._function(name, function)
        return lines

    def _function(self, name: str, function: types.FunctionType) -> list[str]:
        result = decompile_code(function.__code__, style=self._style)
        self._count += 1
        self._proved += result.proved
        if not result.proved:
            self._comments.append(f"# {name}: not proved: {result.reason}")
        body, unnamed = with_signature(result.body, function, name=name)
        self._expressions.unnamed.update(unnamed)
        return definition_alone(body, function)


class Decompiler:
    """The original depyf's class for one code object. New code calls `decompile` and `compile_like` instead of using
    this class.

    Args:
        code: a code object or a callable.

    Raises:
        TypeError: there is no Python code behind `code`.
    """

    def __init__(self, code: types.CodeType | Callable[..., Any]) -> None:
        self.code = find_code(code)

    def decompile(self, indentation: int = 4, temp_prefix: str = "__temp_", overwite_fn_name: str | None = None) -> str:
        """Returns the source. `indentation` and `temp_prefix` have no effect; `overwite_fn_name` (sic) replaces the
        function's name."""
        return source_of(self.code, name=overwite_fn_name)

    @staticmethod
    def decompile_and_compile_like(
        code_to_decompile: types.CodeType,
        reference_code: types.CodeType,
        indentation: int = 4,
        temp_prefix: str = "__temp_",
        filepath_template: str | None = None,
    ) -> types.CodeType:
        """Decompiles one code object and compiles the source so that the result can replace another code object.

        With `filepath_template`, which contains one `%s` for a number, the source is also written to a file. The number
        in the file's name is the lowest number for which no file exists, or for which the file has the same content.
        `co_filename` of the returned code object is the path of the file with the source.

        Raises:
            ValueError: the code cannot replace `reference_code`.
            OSError: the file cannot be written.
        """
        source = source_of(code_to_decompile)
        filename = None
        if filepath_template is not None:
            path, _ = claim(lambda n: filepath_template % n, lambda n: source)
            filename = str(path)
        return compile_checked(source, reference_code, constants_of=code_to_decompile, filename=filename)

    @staticmethod
    def supported_opnames() -> list[str]:
        """Returns the names of the instructions that can be decompiled, which are all instructions of the running
        Python."""
        return sorted(name for name in dis.opmap if not name.startswith("<"))

    def __hash__(self) -> int:
        return id(self.code)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decompiler) and self.code is other.code
