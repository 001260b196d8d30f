"""Describes why a guard does not hold: the value that the guard expects, and the actual value."""

from __future__ import annotations

import ast
import enum
import reprlib
import types
from collections.abc import Mapping
from typing import Any

from depyf import _core
from depyf.guards.model import UNREADABLE, Guard, evaluated
from depyf.session import Failure

NOT_THERE = "not there"
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 120
_repr.maxlevel = 3


def failure(guard: Guard, condition: str, L: Mapping[str, Any], G: Mapping[str, Any]) -> Failure:
    """Returns a description of a failing guard: the value that the guard expects, and the actual value.

    Args:
        guard: a guard that does not hold.
        condition: the failing condition of the guard, in the form in which `Guards.check` returns it.
        L, G: the local and global variables for which the guard does not hold; they are only read, never changed.
    """
    parts = _failing_comparison(guard, condition, L, G)
    if parts is None:
        described_value = terms_of(guard, guard.value or guard.source) or "the state of the process"
        text = terms_of(guard, condition) if guard.live is None else guard.text
        actual = described(guard, guard.value, L, G) if guard.value is not None else "not so"
        return Failure(text, described_value, text, actual, guard.line, guard.kind)
    subject, sign, constant = parts[0], parts[1], _core.in_terms(parts[2])
    shown = terms_of(guard, subject)
    if shown.startswith("id("):
        described_value = shown[3:-1]
        expected = guard.hint or _that_object(guard.text)
        actual = described(guard, subject[3:-1], L, G)
        if not guard.hint or actual == expected:
            actual = f"another, {actual}"
        return Failure(
            f"{described_value} is the same object", described_value, expected, actual, guard.line, guard.kind
        )
    expected = constant if sign in ("==", "is") else f"{sign} {constant}"
    actual = described(guard, subject, L, G)
    return Failure(f"{shown} {sign} {constant}", shown, expected, actual, guard.line, guard.kind)


def terms_of(guard: Guard, expression: str) -> str:
    """Returns an expression of a guard in the user's terms, such as `x.shape[0]` for `L['x'].size()[0]`. If the guard
    reads a value of a dict by the value's position in the dict, the result names the value by its key."""
    if guard.value is not None and "list(dict.values(" in guard.value and "list(dict.values(" not in guard.source:
        expression = expression.replace(guard.value, guard.source)
    return _core.in_terms(expression)


def _failing_comparison(
    guard: Guard, condition: str, L: Mapping[str, Any], G: Mapping[str, Any]
) -> tuple[str, str, str] | None:
    """Returns (subject, operator, constant) of the first failing comparison in a condition; None if the condition has
    no failing comparison."""
    if guard.live is not None:
        return None
    try:
        tree = ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for part in tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]:
        if not isinstance(part, ast.Compare):
            continue
        for left, operator, right in zip([part.left, *part.comparators], part.ops, part.comparators, strict=False):
            is_whole = part is tree and len(part.ops) == 1
            comparison = condition if is_whole else ast.unparse(ast.Compare(left, [operator], [right]))
            if _holds(guard, comparison, L, G):
                continue
            sign = _SIGNS[type(operator)]
            if _reads(left) or not _reads(right):
                return ast.unparse(left), sign, ast.unparse(right)
            turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
            return ast.unparse(right), turned, ast.unparse(left)
    return None


def _reads(tree: ast.expr) -> bool:
    return any(
        isinstance(node, (ast.Name, ast.Call)) and getattr(node, "id", "") not in ("float",) for node in ast.walk(tree)
    )


def _holds(guard: Guard, expression: str, L: Mapping[str, Any], G: Mapping[str, Any]) -> bool:
    try:
        with guard.reading():
            return bool(evaluated(expression, L, G))
    except Exception:
        return False


def described(
    guard: Guard, expression: str | None, L: Mapping[str, Any], G: Mapping[str, Any], *, whole: bool = False
) -> str:
    """Returns the value of an expression as text of bounded length; for a tensor, the text has its type and shape. The
    value is read with the same settings of the process with which the guard reads values; see `Guard.reading`.

    Args:
        whole: if true, a string is returned without a bound on its length.
    """
    if expression is None:
        return UNREADABLE
    try:
        with guard.reading():
            value = evaluated(expression, L, G)
            return value if whole and type(value) is str else shown(value)
    except Exception as error:
        return (
            f"{NOT_THERE} ({type(error).__name__})" if isinstance(error, LookupError | AttributeError) else UNREADABLE
        )


def shown(value: Any) -> str:
    """Returns a value as text of bounded length, without running code of any class that is neither Python's nor
    torch's."""
    kind = type(value)
    if kind in (int, float, complex, bool, str, bytes, type(None), tuple, list, dict, set, frozenset, range, slice):
        return _repr.repr(value) if _is_plain(value) else f"a {kind.__name__} of {len(value)}"
    module = str(type.__getattribute__(kind, "__module__"))
    if kind is types.CodeType:
        place = value.co_filename.replace("\\", "/").rpartition("/")[2]
        return f"{getattr(value, 'co_qualname', value.co_name)} ({place}:{value.co_firstlineno})"
    if isinstance(value, type):
        return str(type.__getattribute__(value, "__qualname__"))
    if module.partition(".")[0] == "torch" and hasattr(kind, "dtype") and hasattr(kind, "size"):
        return f"{kind.__name__} of {value.dtype}, shape {tuple(value.shape)}"
    if module.partition(".")[0] == "torch" and kind.__name__ in ("dtype", "device", "Size", "layout", "DispatchKeySet"):
        return tuple.__repr__(value) if kind.__name__ == "Size" else repr(value)
    if issubclass(kind, enum.Enum):
        return f"{kind.__qualname__}.{value._name_}"
    name = getattr(value, "__qualname__", None) if module == "builtins" else None
    # PyTorch stores functions such as `torch.add` in the class `_VariableFunctionsClass`.
    if isinstance(name, str) and name.startswith("_VariableFunctionsClass."):
        return f"torch.{name.partition('.')[2]}"
    return f"{kind.__name__} {name}" if isinstance(name, str) else f"an object of {module}.{kind.__qualname__}"


def _is_plain(value: Any, depth: int = 0) -> bool:
    kind = type(value)
    if kind in (tuple, list, set, frozenset):
        return depth < 3 and len(value) < 100 and all(_is_plain(item, depth + 1) for item in value)
    if kind is dict:
        return (
            depth < 3
            and len(value) < 100
            and all(_is_plain(k, 3) and _is_plain(v, depth + 1) for k, v in value.items())
        )
    return kind in (int, float, complex, bool, str, bytes, type(None), range, slice)


def class_in(text: str) -> str:
    """Returns the name of the class in `text`, Dynamo's text of a guard on the class or identity of an object; "" if
    the text names no class."""
    return text.partition("type=<class '")[2].partition("'")[0]


def _that_object(text: str) -> str:
    kind = class_in(text)
    return f"that object of {kind}" if kind else "the same object as before"
