"""Writes a Python expression over `L`, `G` and torch for a value that a guard checks. The expression follows the path
to the value in the guard tree. For each kind of step on a path, such as reading an attribute, `_STEPS` has a function
that writes the step."""

from __future__ import annotations

import ast
from collections.abc import Callable

from depyf.compat import guard_words
from depyf.compat.guard_tree import Node, Step
from depyf.compat.private import guarded
from depyf.guards import dynamo_words as words
from depyf.guards.plain_python import in_plain, plain, value_of


@guarded()
def path(node: Node, above: str | None) -> str | None:
    """Returns the Python expression for a node's value; None if the value has no Python expression. `above` is the
    expression for the value of the node's parent."""
    if above is None or node.step is None:
        return None
    step = node.step
    maker = _STEPS.get(step.kind)
    if maker is not None:
        return maker(above, step, node)
    return None


def _key(above: str, step: Step, node: Node) -> str | None:
    key = plain(step.argument)
    if key is None:
        return None
    parent = node.parent
    if parent is not None and parent.type is not None and not _is_plain_dict(parent):
        # A subclass of dict can override `__getitem__` and define `__missing__`, so the item is read from a plain dict
        # with the same items.
        return f"dict(dict.items({above}))[{key}]"
    return f"{above}[{key}]"


def _is_plain_dict(node: Node) -> bool:
    kind = node.type
    return (
        isinstance(kind, type)
        and issubclass(kind, dict)
        and getattr(kind, "__getitem__", None) is dict.__getitem__
        and not hasattr(kind, "__missing__")
    )


def _index(above: str, step: Step, node: Node) -> str:
    return f"{above}[{step.argument}]"


def _item(above: str, step: Step, node: Node) -> str | None:
    # PyTorch's accessor prints its key without quotes. Only Dynamo's name for the value shows whether a key such as `0`
    # is a number or a string.
    tree = words.parse(node.source)
    key = in_plain(tree.slice, {}) if isinstance(tree, ast.Subscript) else None
    if key is None or str(value_of(key)) != step.argument:
        key = plain(step.argument) if step.argument.startswith("slice(") else None
    return None if key is None else f"{above}[{key}]"


def _attribute(above: str, step: Step, node: Node) -> str:
    return f"{above}.{step.argument}" if step.argument.isidentifier() else f"getattr({above}, {step.argument!r})"


def _quoted(name: str) -> str:
    return name if name[:1] in "'\"" else repr(name)


def _from_words(above: str, step: Step, node: Node) -> str | None:
    """Returns the Python expression for a node's value, built from Dynamo's name for the value; None if this name
    cannot be written as plain Python."""
    parent = node.parent
    source = node.source
    if parent is not None and parent.source and parent.source != "L" and parent.source in source:
        source = source.replace(parent.source, "___above")
    tree = words.parse(source)
    return None if tree is None else in_plain(tree, {"___above": above})


_STEPS: dict[str, Callable[[str, Step, Node], str | None]] = {
    "FrameLocalsGuardAccessor": lambda above, step, node: f"L[{step.argument}]",
    "GlobalsGuardAccessor": lambda above, step, node: "G",
    "DictGetItemGuardAccessor": _key,
    "GetAttrGuardAccessor": _attribute,
    "GenericGetAttrGuardAccessor": lambda above, step, node: f"object.__getattribute__({above}, {step.argument!r})",
    "GetGenericDictGuardAccessor": lambda above, step, node: f"{above}.__dict__",
    "ListGetItemGuardAccessor": _index,
    "TupleGetItemGuardAccessor": _index,
    "GetItemGuardAccessor": _item,
    "GradGuardAccessor": lambda above, step, node: f"{above}.grad",
    "FuncDefaultsGuardAccessor": lambda above, step, node: f"{above}.__defaults__",
    "FuncKwDefaultsGuardAccessor": lambda above, step, node: f"{above}.__kwdefaults__",
    "TypeGuardAccessor": lambda above, step, node: f"type({above})",
    "TypeDictGuardAccessor": lambda above, step, node: f"{above}.__dict__",
    "TypeMROGuardAccessor": lambda above, step, node: f"{above}.__mro__",
    "CodeGuardAccessor": lambda above, step, node: f"{above}.__code__",
    "ClosureGuardAccessor": lambda above, step, node: f"{above}.__closure__",
    "WeakRefCallGuardAccessor": lambda above, step, node: f"{above}()",
    "CallFunctionNoArgsGuardAccessor": lambda above, step, node: f"{above}()",
    "GlobalWeakRefGuardAccessor": lambda above, step, node: f"G[{_quoted(step.argument)}]()",
    "TupleIteratorGetItemAccessor": lambda above, step, node: (
        f"{guard_words.TUPLE_ITERATOR_ITEM}({above}, {step.argument})"
    ),
    "SetGetItemGuardAccessor": lambda above, step, node: f"list({above})[{step.argument.removeprefix('index=')}]",
    "IndexedGuardAccessor": lambda above, step, node: above,
    "IndexedGuardAccesor": lambda above, step, node: above,  # PyTorch 2.13 spells the name in this way.
    "PythonLambdaGuardAccessor": _from_words,
    "key": lambda above, step, node: f"list(dict.keys({above}))[{step.argument}]",
    "value": lambda above, step, node: f"list(dict.values({above}))[{step.argument}]",
}
for _property, _call in (("size", "size({})"), ("stride", "stride({})"), ("storage_offset", "storage_offset()")):
    _STEPS[f"TensorPropertyGuardAccessor<{_property}>"] = lambda above, step, node, call=_call: (  # type: ignore[misc]
        f"{above}.{call.format(step.argument)}"
    )


def reachable(node: Node, expression: str, above: str) -> str:
    """Returns the condition that the value of a node can be read. The condition becomes the guard on the value if the
    guard tree has no other guard on it."""
    step = node.step
    if step is not None and step.kind in ("GetAttrGuardAccessor",):
        return f"hasattr({above}, {step.argument!r})"
    if step is not None and step.kind == "DictGetItemGuardAccessor" and expression.startswith(f"{above}["):
        return f"{expression[len(above) + 1 : -1]} in {above}"
    return f"({expression}, True)[1]"


def known_steps() -> set[str]:
    """Returns the names of the classes of accessors that have a Python form."""
    return set(_STEPS)
