"""Evaluates expressions of stack slots that call nothing, independent of the code under test.

Operators are evaluated only for exact built-in types, whose operators have no effects, and attributes are read only
from modules and classes. Every other expression raises NotFree, and is not compared.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

PLAIN = (int, float, str, bytes, bool, complex, type(None), tuple, frozenset, range)


class NotFree(Exception):
    """The evaluation of an expression could have effects."""


def evaluate(text: str, lookup: Callable[[str], Any]) -> Any:
    """Returns the value of an expression; `lookup` returns the value of each name."""
    return _value(ast.parse(text, mode="eval").body, lookup)


def _value(node: ast.expr, lookup: Callable[[str], Any]) -> Any:
    def value(one: ast.expr) -> Any:
        return _value(one, lookup)

    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return lookup(node.id)
        case ast.Tuple() | ast.List() if not any(isinstance(one, ast.Starred) for one in node.elts):
            kind = tuple if isinstance(node, ast.Tuple) else list
            return kind(value(one) for one in node.elts)
        case ast.IfExp():
            return value(node.body) if _truth(value(node.test)) else value(node.orelse)
        case ast.BoolOp():
            result = value(node.values[0])
            for one in node.values[1:]:
                if _truth(result) == isinstance(node.op, ast.Or):
                    break
                result = value(one)
            return result
        case ast.Attribute() if node.attr != "__dict__":  # each read of `__dict__` returns a new mappingproxy
            owner = value(node.value)
            if isinstance(owner, (types.ModuleType, type)):
                return getattr(owner, node.attr)
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[right]):
            same = value(left) is value(right)
            return same == isinstance(op, ast.Is)
        case ast.BinOp() | ast.Compare() | ast.UnaryOp() | ast.Subscript():
            return _operator(node, value)
        case ast.Call(func=ast.Name(id="bool"), args=[argument]):
            return _truth(value(argument))
    raise NotFree(ast.dump(node))


def _truth(value: Any) -> bool:
    if type(value) not in PLAIN:
        raise NotFree(f"truth of {type(value)}")
    return bool(value)


def _operator(node: ast.expr, value: Any) -> Any:
    operands: dict[str, Any] = {}

    def replaced(one: Any) -> Any:
        if isinstance(one, ast.Slice):
            raise NotFree("a slice")
        if not isinstance(one, ast.expr):
            return one
        result = value(one)
        if type(result) not in PLAIN:
            raise NotFree(f"an operator of {type(result)}")
        operands[name := f"_{len(operands)}"] = result
        return ast.Name(name, ast.Load())

    fields = {
        field: [replaced(one) for one in content] if isinstance(content, list) else replaced(content)
        for field, content in ast.iter_fields(node)
    }
    tree = ast.fix_missing_locations(ast.Expression(type(node)(**fields)))
    return eval(compile(tree, "<slot>", "eval"), {}, operands)


def same(one: Any, two: Any) -> bool:
    """True if both are the same object, or equal values of the same built-in type."""
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    if type(one) in (list, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, (types.MethodType, types.BuiltinMethodType)):
        return bool(one == two)
    if isinstance(one, float) and one != one:
        return two != two
    return type(one) in PLAIN and bool(one == two)
