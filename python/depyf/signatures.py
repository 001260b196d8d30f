"""Writes the head of a function object's definition: defaults, annotations and type parameters, which its code object
does not contain."""

from __future__ import annotations

import ast
import builtins
import enum
import math
import sys
import types
import typing
from typing import Any

from depyf.decompilation import describe
from depyf.recompile import find_function

__all__ = ["Expressions", "head_comments", "with_signature"]

# The nesting depth to which a value is written as an expression; a value that nests deeper is shown as a name.
_DEPTH_MAX = 8
_ITEMS_MAX = 1000
_TEXT_MAX = 10_000
_DESCRIPTORS = (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
_LITERALS = (bool, int, str, bytes, type(None), type(Ellipsis))


class Expressions:
    """Writes values as expressions that are valid where a function with the globals `namespace` is defined.

    A value without a literal is written by its name: the name of a global, of a builtin, of an attribute of a global
    module or class, or of an attribute of the module that defines the value. A value that has neither a literal nor a
    name gets an invented name, which `unnamed` maps to the value.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._names: dict[int, str] = {}
        self._attributes: dict[int, str] | None = None
        self.unnamed: dict[str, object] = {}
        for name, value in [*vars(builtins).items(), *namespace.items()]:
            if type(name) is str and name.isidentifier() and not isinstance(value, _LITERALS):
                self._names[id(value)] = name

    def add_name(self, name: str, value: object) -> None:
        """Registers a name for `value` that the surrounding text binds, such as a type parameter."""
        self._names[id(value)] = name

    def text(self, value: object, name: str, holder: str | None = None) -> str:
        """Returns the expression for `value`. If `value` has no expression, `text` returns `holder`, an expression for
        the place of the value in the function object, or `__NAME` if `holder` is None. If `value` has no expression,
        the returned text is also added to `unnamed`."""
        text = self._text(value, 0)
        if text is not None and len(text) <= _TEXT_MAX:
            return text
        if holder is not None:
            self.unnamed[holder] = value
            return holder
        free = f"__{name}"
        while free in self._namespace or (free in self.unnamed and self.unnamed[free] is not value):
            free += "_"
        self.unnamed[free] = value
        return free

    def _text(self, value: object, depth: int) -> str | None:
        kind = type(value)
        if kind in _LITERALS:
            return "..." if value is Ellipsis else repr(value)
        if kind is float or kind is complex:
            return _number(value)
        if id(value) in self._names:
            return self._names[id(value)]
        if depth > _DEPTH_MAX:
            return None
        if kind in (tuple, list, set, frozenset, dict):
            return self._display(value, depth)
        if isinstance(value, type) and type(value) is not types.GenericAlias:  # type: ignore[comparison-overlap]
            return self.imported(value) or self._attribute(value)
        if kind in (types.FunctionType, types.BuiltinFunctionType, types.ModuleType):
            return self.imported(value) or self._attribute(value) or self._method(value, depth)
        if kind in (types.MethodType, types.MethodWrapperType, *_DESCRIPTORS):
            return self._method(value, depth)
        return self._alias(value, depth) or self._attribute(value)

    def _method(self, value: Any, depth: int) -> str | None:
        """Returns an expression for a method: `int.__repr__`, or `PATTERN.match` for a global `PATTERN`. Returns None
        if the object that has the method has no expression."""
        holder = value.__objclass__ if type(value) in _DESCRIPTORS else getattr(value, "__self__", None)
        name = value.__name__
        text = None if holder is None or not name.isidentifier() else self._text(holder, depth + 1)
        if text is None:
            return None
        return f"({text}).{name}" if isinstance(holder, (int, float, complex)) else f"{text}.{name}"

    def _display(self, value: Any, depth: int) -> str | None:
        if len(value) > _ITEMS_MAX:
            return None
        if type(value) is dict:
            pairs = [(self._text(key, depth + 1), self._text(item, depth + 1)) for key, item in value.items()]
            if any(key is None or item is None for key, item in pairs):
                return None
            return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
        texts = [self._text(item, depth + 1) for item in value]
        items = [text for text in texts if text is not None]
        if len(items) < len(texts):
            return None
        if type(value) is tuple:
            return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
        if type(value) is list:
            return f"[{', '.join(items)}]"
        items.sort()  # Sets have no stable order.
        if type(value) is frozenset:
            return f"frozenset({{{', '.join(items)}}})" if items else "frozenset()"
        return f"{{{', '.join(items)}}}" if items else "set()"

    def imported(self, value: Any) -> str | None:
        """Returns an expression for a class, function or module by the name of the module that defines it, such as
        `__import__('math').sqrt`; None if the value cannot be reached by this name."""
        if isinstance(value, types.ModuleType):
            name = types.ModuleType.__getattribute__(value, "__dict__").get("__name__")
            known = type(name) is str and sys.modules.get(name) is value
            return (
                None
                if not known
                else f"__import__({name!r}, fromlist=['*'])"
                if "." in name
                else f"__import__({name!r})"
            )
        getter = type.__getattribute__ if isinstance(value, type) else object.__getattribute__
        try:
            module, qualname = getter(value, "__module__"), getter(value, "__qualname__")
        except AttributeError:
            return None
        if type(module) is not str or type(qualname) is not str:
            return None
        value_there: Any = sys.modules.get(module)
        first = self._names.get(id(value_there)) if value_there is not None else None
        parts = qualname.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        for part in parts:
            own = _own_attributes(value_there)
            if own is None or part not in own:
                return None
            value_there = own[part]
        if (value_there.__func__ if type(value_there) in (classmethod, staticmethod) else value_there) is not value:
            return None
        if first is None:
            first = f"__import__({module!r}, fromlist=['*'])" if "." in module else f"__import__({module!r})"
        return f"{first}.{qualname}"

    def _attribute(self, value: object) -> str | None:
        """Returns an expression for a value that is an attribute of a module or class among the globals, or a member of
        an enum; None for other values."""
        if self._attributes is None:
            self._attributes = {}
            for name, holder in self._namespace.items():
                own = _own_attributes(holder) if type(name) is str and name.isidentifier() else None
                for attribute, each in (own or {}).items():
                    if type(attribute) is str and attribute.isidentifier() and not isinstance(each, _LITERALS):
                        self._attributes.setdefault(id(each), f"{name}.{attribute}")
        return self._attributes.get(id(value)) or self._enum_member(value)

    def _enum_member(self, value: object) -> str | None:
        kind = type(value)
        if not issubclass(kind, enum.Enum):
            return None
        name = object.__getattribute__(value, "__dict__").get("_name_")
        members = type.__getattribute__(kind, "__dict__").get("_member_map_", {})
        holder = self._text(kind, 0)
        if holder is None or type(name) is not str or members.get(name) is not value:
            return None
        return f"{holder}.{name}" if name.isidentifier() else f"{holder}[{name!r}]"

    def _alias(self, value: Any, depth: int) -> str | None:
        """Returns an expression for a union or generic alias, such as `list[int]` or `int | None`; None for other
        values."""
        if type(value) is types.UnionType:
            parts = [self._text(None if part is type(None) else part, depth + 1) for part in value.__args__]
            return None if None in parts else " | ".join(map(str, parts))
        if type(value) is types.GenericAlias:
            return self._subscript(value.__origin__, value.__args__, depth)
        if type(value).__module__ != "typing":
            return None
        special = getattr(value, "_name", None)
        if type(special) is str and not getattr(value, "__args__", None):
            return self._member_of_typing(special, value)
        origin, arguments = typing.get_origin(value), typing.get_args(value)
        if origin is None:
            return None
        if origin is typing.Union:
            holder = self._member_of_typing("Union", typing.Union)
        elif type(special) is str and getattr(typing, special, None) is not None:
            holder = self._member_of_typing(special, getattr(typing, special))
        else:
            holder = self._text(origin, depth + 1)
        return None if holder is None else self._subscripted(holder, arguments, depth)

    def _member_of_typing(self, name: str, value: object) -> str | None:
        if getattr(typing, name, None) is not value:
            return None
        if id(value) in self._names:
            return self._names[id(value)]
        return f"{self._names.get(id(typing), '__import__(' + repr('typing') + ')')}.{name}"

    def _subscript(self, origin: object, arguments: tuple[Any, ...], depth: int) -> str | None:
        holder = self._text(origin, depth + 1)
        return None if holder is None else self._subscripted(holder, arguments, depth)

    def _subscripted(self, holder: str, arguments: tuple[Any, ...], depth: int) -> str | None:
        texts = []
        for argument in arguments:
            if argument is type(None):
                texts.append("None")
                continue
            text = self._text(argument, depth + 1)
            if text is None:
                return None
            texts.append(text)
        return f"{holder}[{', '.join(texts) or '()'}]"


def with_signature(
    source: str, function: types.FunctionType, *, name: str | None = None
) -> tuple[str, dict[str, object]]:
    """Returns `source`, one function as `decompile` writes it, with the defaults, annotations and type parameters of
    `function`.

    `name` replaces the function's name.

    The second result maps each name in the source that stands for a value without an expression to the value. In the
    returned source, all lines keep their numbers. If the head of the function is not found, the source stays the same.
    """
    definition = _definition(source, function)
    if definition is None:
        return source, {}
    writer = _Head(function)
    lines = source.split("\n")
    old = lines[definition.lineno - 1]
    indentation = old[: len(old) - len(old.lstrip())]
    keyword = "async def" if isinstance(definition, ast.AsyncFunctionDef) else "def"
    for number in range(definition.lineno, _end_of_head(lines, definition)):
        lines[number] = ""  # Blank lines keep the numbers of all other lines.
    lines[definition.lineno - 1] = f"{indentation}{keyword} {name or definition.name}{writer.text(definition.args)}:"
    return "\n".join(lines), writer.expressions.unnamed


def _end_of_head(lines: list[str], definition: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Returns the number of the line on which the head of `definition` (`def f(...):`) ends."""
    for end in range(definition.lineno, definition.body[0].lineno):
        head = "\n".join(lines[definition.lineno - 1 : end])
        try:
            ast.parse(head.lstrip() + " pass")
        except SyntaxError:
            continue
        return end
    return definition.lineno


def definition_alone(source: str, function: types.FunctionType) -> list[str]:
    """Returns the lines of the definition of `function` in `source`, indented as in a class body, without the enclosing
    function that binds its free variables. Lines that begin within a string literal are not changed."""
    definition = _definition(source, function)
    lines = source.split("\n")
    if definition is None:
        return [f"    # {line}" for line in lines]
    end = definition.end_lineno or definition.lineno
    within = _lines_within_strings(definition)
    column = definition.col_offset
    inner = ((number, lines[number - 1]) for number in range(definition.lineno, end + 1))
    return [line if number in within or not line else f"    {line[column:]}" for number, line in inner]


def _lines_within_strings(tree: ast.AST) -> set[int]:
    """Returns the numbers of the lines that begin within a string literal."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and (node.end_lineno or 0) > node.lineno:
            lines.update(range(node.lineno + 1, (node.end_lineno or 0) + 1))
    return lines


def _definition(source: str, function: types.FunctionType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    try:
        definition = find_function(ast.parse(source), function.__code__)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    first = definition.body[0].lineno
    # A definition with decorators, or with its body on the line of its head (`def f(): pass`), is not rewritten.
    return definition if first > definition.lineno and not definition.decorator_list else None


class _Head:
    """Writes the part of a definition between the name and the colon."""

    def __init__(self, function: types.FunctionType) -> None:
        self.expressions = Expressions(function.__globals__)
        self._defaults = list(function.__defaults__ or ())
        self._keyword_defaults = dict(function.__kwdefaults__ or {})
        self._annotations = _annotations(function)
        self._type_params = tuple(getattr(function, "__type_params__", ()))
        self._function = self.expressions.imported(function)

    def text(self, arguments: ast.arguments) -> str:
        for param in self._type_params:
            self.expressions.add_name(param.__name__, param)
        type_params = [self._type_param(param) for param in self._type_params]
        parts: list[str] = []
        positional = [*arguments.posonlyargs, *arguments.args]
        without = len(positional) - len(self._defaults)
        for index, arg in enumerate(positional):
            has_default = index >= without
            default = self._defaults[index - without] if has_default else None
            parts.append(self._parameter(arg.arg, has_default, default, f"__defaults__[{index - without}]"))
            if index + 1 == len(arguments.posonlyargs):
                parts.append("/")
        if arguments.vararg:
            parts.append("*" + self._parameter(arguments.vararg.arg))
        elif arguments.kwonlyargs:
            parts.append("*")
        for arg in arguments.kwonlyargs:
            has_default = arg.arg in self._keyword_defaults
            default = self._keyword_defaults.get(arg.arg)
            parts.append(self._parameter(arg.arg, has_default, default, f"__kwdefaults__[{arg.arg!r}]"))
        if arguments.kwarg:
            parts.append("**" + self._parameter(arguments.kwarg.arg))
        head = f"[{', '.join(type_params)}]" if type_params else ""
        returns = ""
        if "return" in self._annotations:
            returns = f" -> {self._annotation('return')}"
        return f"{head}({', '.join(parts)}){returns}"

    def _annotation(self, name: str) -> str:
        holder = f"{self._function}.__annotations__[{name!r}]" if self._function else None
        return self.expressions.text(self._annotations[name], "annotation_" + name, holder)

    def _parameter(self, name: str, has_default: bool = False, default: object = None, place: str = "") -> str:
        """Returns the text of one parameter. `place` is the attribute of the function object that contains the default,
        such as `__defaults__[0]`."""
        text = name
        annotated = name in self._annotations
        if annotated:
            text += f": {self._annotation(name)}"
        if has_default:
            holder = f"{self._function}.{place}" if self._function else None
            value = self.expressions.text(default, "default_" + name, holder)
            text += f" = {value}" if annotated else f"={value}"
        return text

    def _type_param(self, param: Any) -> str:
        stars = {"ParamSpec": "**", "TypeVarTuple": "*"}.get(type(param).__name__, "")
        text: str = stars + param.__name__
        bound = _attribute_or_none(param, "__bound__")
        constraints = _attribute_or_none(param, "__constraints__")
        if bound is not None:
            text += f": {self.expressions.text(bound, 'bound_' + param.__name__)}"
        elif constraints:
            text += f": {self.expressions.text(constraints, 'constraints_' + param.__name__)}"
        default = _attribute_or_none(param, "__default__")
        if default is not None and default is not getattr(typing, "NoDefault", None):
            text += f" = {self.expressions.text(default, 'default_' + param.__name__)}"
        return text


def _attribute_or_none(param: object, name: str) -> Any:
    try:
        return getattr(param, name, None)
    except Exception:  # Reading a type parameter's attribute can run an expression of the user's program.
        return None


def _annotations(function: types.FunctionType) -> dict[str, Any]:
    try:
        annotations = function.__annotations__
    except Exception:  # From 3.14 on, reading the annotations can run user code, which evaluates them lazily.
        return {}
    return dict(annotations) if type(annotations) is dict else {}


def _number(value: Any) -> str | None:
    parts = (value.real, value.imag) if type(value) is complex else (value,)
    if all(math.isfinite(part) for part in parts):
        return repr(value)
    return f"{type(value).__name__}({str(value)!r})"


def _own_attributes(holder: object) -> dict[str, Any] | None:
    """Returns the attributes in the `__dict__` of a module or class, without running code of the object; None for other
    objects."""
    if isinstance(holder, types.ModuleType):
        attributes: dict[str, Any] = types.ModuleType.__getattribute__(holder, "__dict__")
        return attributes
    if isinstance(holder, type):
        return dict(type.__getattribute__(holder, "__dict__"))
    return None


def head_comments(unnamed: dict[str, object]) -> list[str]:
    """Returns a comment for each name that stands for a value without an expression."""
    return [f"# {name}: {describe(value)}" for name, value in unnamed.items()]
