"""Writes objects as texts of the form `module:path.to.object`, by which another process finds them, and guards that
contain these texts.

Dynamo's guards name types and functions by their `id()`, a number that has no meaning in another process. In the place
of an object's id, the file of an entry contains `identity('module:name')`.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import math
import re
import sys
import types
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from depyf.guards import Guard, evaluated
from depyf.toolkit.target import Target

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry

INSTANCE = "instance"
"""The text that stands for the object to which a method is bound, if an entry belongs to a method."""
INSTANCE_TYPE = "type of instance"
_IDENTITY = re.compile(r"(?P<read>\bid\((?P<of>(?:(?! and | or ).)+?)\)) == (?P<number>\d{5,})(?=$|\)| and | or )")
_DYNAMOS = re.compile(r"G\['(?P<name>__(?:import|builtins_dict)_\w+)'\]")
_PLACE = re.compile(r"identity\((?P<place>'[^'\\]*')\)")


def place(value: object) -> str | None:
    """Returns the text by which another process finds a module, a class, a function or the code of a function; None if
    there is no such text."""
    if isinstance(value, types.ModuleType):
        return f"{value.__name__}:" if sys.modules.get(value.__name__) is value else None
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    text = f"{module}:{name}"
    try:
        return text if find(text) is value else None
    except LookupError:
        return None


def find(text: str) -> Any:
    """Returns the object that a text returned by `place` names.

    Raises:
        LookupError: the object does not exist; the message names the missing part.
    """
    name, _, path = text.partition(":")
    try:
        value: Any = sys.modules.get(name) or importlib.import_module(name)
    except Exception as error:
        raise LookupError(f"module {name} ({error})") from None
    for part in path.split(".") if path else ():
        try:
            value = getattr(value, part)
        except Exception:
            raise LookupError(f"{path} of module {name}") from None
    return value


def expression(guard: Guard, entry: CacheEntry) -> str | None:
    """Returns the guard's condition with each number that `id()` returned replaced by a text by which another process
    finds the object. Returns None if the guard has no Python form. Also returns None if another process cannot find an
    object whose `id()` the condition contains."""
    if guard.expression is None:
        return None
    lost = False

    def written(match: re.Match[str]) -> str:
        nonlocal lost
        place_found = _place_of_identity(int(match["number"]), match["of"], guard, entry)
        lost = lost or place_found is None
        return f"{match['read']} == identity({place_found!r})"

    text = _IDENTITY.sub(written, guard.expression)
    return None if lost else _DYNAMOS.sub(lambda match: _without_dynamos_name(match, entry.target), text)


def _without_dynamos_name(match: re.Match[str], target: Target) -> str:
    """`match` is an expression that reads a global of the function, in which Dynamo stored an object. If the object in
    the global is a module or the dict of Python's builtins, returns an expression for the same object that any process
    can evaluate. If Dynamo stored any other object in the global, returns the matched expression unchanged."""
    value = target.globals.get(match["name"])
    if isinstance(value, types.ModuleType):
        return f"__import__({value.__name__!r}, fromlist=['_'])"
    return "vars(__import__('builtins'))" if value is vars(builtins) else match[0]


def _place_of_identity(number: int, read: str, guard: Guard, entry: CacheEntry) -> str | None:
    """Returns the result of `place` for the object whose `id()` is `number` in the condition `id(...) == number`; None
    if no other process can find the object."""
    target = entry.target
    if target.instance is not None and number in (id(target.instance), id(type(target.instance))):
        return INSTANCE if number == id(target.instance) else place(type(target.instance)) or INSTANCE_TYPE
    if read.startswith("type("):
        types_found = [type_ for type_ in _types() if id(type_) == number]
        return place(types_found[0]) if types_found else None
    try:
        tree = ast.parse(read, mode="eval").body
        if any(isinstance(node, ast.Name) and node.id == "L" for node in ast.walk(tree)):
            return _held(number, entry)
        owner = evaluated(read.removesuffix(".__code__"), {}, target.globals)
        value = owner.__code__ if read.endswith(".__code__") else owner
    except Exception:
        return None
    if id(value) != number:
        return None
    known = place(owner)
    if known is not None:
        return f"{known}.__code__" if value is not owner else known
    # `place` has no text for this object, so another process can reach the object only through a global of the
    # function's module.
    path: list[str] = []
    while isinstance(tree, ast.Attribute):
        path.insert(0, tree.attr)
        tree = tree.value
    module = sys.modules.get(str(target.globals.get("__name__")))
    if module is None or vars(module) is not target.globals:
        return None
    if (
        not isinstance(tree, ast.Subscript)
        or not isinstance(tree.slice, ast.Constant)
        or ast.unparse(tree.value) != "G"
    ):
        return None
    return ".".join([f"{module.__name__}:{tree.slice.value!s}", *path])


def _held(number: int, entry: CacheEntry) -> str | None:
    objects = getattr(entry.tree, "id_matched_objs", None) or {}
    for reference in objects.values():
        value = reference() if isinstance(reference, weakref.ref) else reference
        if id(value) == number:
            return place(value)
    return None


def _types() -> list[type]:
    types_by_id: dict[int, type] = {}
    todo: list[type] = [object]
    while todo:
        type_ = todo.pop()
        if id(type_) not in types_by_id:
            types_by_id[id(type_)] = type_
            todo += type.__subclasses__(type_)
    return list(types_by_id.values())


def with_identities(text: str, target: Target, keep: list[object]) -> str:
    """Replaces each `identity('module:name')` in a condition by the id() of the named object in this process. The named
    objects are appended to `keep`, because each must stay alive as long as its id() is used.

    Raises:
        LookupError: an object does not exist.
    """

    def number(match: re.Match[str]) -> str:
        where = ast.literal_eval(match["place"])
        if where in (INSTANCE, INSTANCE_TYPE):
            if target.instance is None:
                raise LookupError("the object that the method belongs to")
            value = target.instance if where == INSTANCE else type(target.instance)
        else:
            value = find(where)
        keep.append(value)
        return str(id(value))

    return _PLACE.sub(number, text)


def described(value: object, target: Target) -> str:
    """Returns the text that describes an object in the dict NAMES of a file. The text is "globals" or "builtins", or
    one of the words "object", "value", "float" and "missing" followed by details."""
    if value is target.globals:
        return "globals"
    if value is vars(builtins):
        return "builtins"
    if type(value) is float and not math.isfinite(value):
        return f"float {value!r}"
    try:
        if type(value) in _LITERALS and ast.literal_eval(repr(value)) == value:
            return "value " + repr(value)
    except (ValueError, SyntaxError, RecursionError):
        pass
    where = place(value)
    if where is not None:
        return f"object {where}"
    # A dtype or a layout of torch is found by its repr, such as `torch.float32`.
    if type(value).__module__ == "torch" and re.fullmatch(r"torch\.\w+", repr(value)):
        return f"object {repr(value).replace('.', ':', 1)}"
    kind = type(value)
    return f"missing an object of type {kind.__module__}.{kind.__qualname__}"


_LITERALS = (bool, int, float, complex, str, bytes, type(None), type(...), tuple, list, dict, set)


def value_of(text: str, target: Target) -> Any:
    """Returns the object that a text returned by `described` describes.

    Raises:
        LookupError: the object does not exist; the message names the missing part.
        ValueError: the text has none of the forms that `described` writes.
    """
    kind, _, rest = text.partition(" ")
    if kind == "globals":
        return target.globals
    if kind == "builtins":
        return vars(builtins)
    if kind == "float":
        return float(rest)
    if kind == "value":
        return ast.literal_eval(rest)
    if kind == "object":
        return find(rest)
    if kind == "missing":
        raise LookupError(rest)
    raise ValueError(f"cannot read {text!r}")


def graph_source(graph_module: Any, name: str) -> tuple[str, Mapping[str, object]] | None:
    """Returns (the source of a function that computes the values of a graph, the globals of the function); None if the
    graph holds modules, parameters or constants."""
    if any(node.op in ("get_attr", "call_module") for node in graph_module.graph.nodes):
        return None
    python_code = graph_module.graph.python_code("self")
    tree = ast.parse(python_code.src)
    functions = [
        statement for statement in tree.body if isinstance(statement, ast.FunctionDef) and statement.name == "forward"
    ]
    if len(functions) != 1:
        return None
    function = functions[0]
    function.name = name
    function.args.args = function.args.args[1:]
    function.returns = None
    for argument in function.args.args:
        argument.annotation = None
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return ast.unparse(function), {name: value for name, value in python_code.globals.items() if name in used}
