"""The order of free and cell variables: a compiler sorts them by name, Dynamo does not.

For the time of a compilation the variables have names that sort as wanted; the code gets their own back.
"""

from __future__ import annotations

import ast
import copy
import graphlib
import itertools
import sys
import types

from depyf import names

# Names that the compiler itself introduces, which have to stay as they are.
_FIXED = {"__class__", "__classdict__", "__conditional_annotations__"}


def renamings(code: types.CodeType) -> dict[str, str]:
    """Returns name -> name to compile with, so that free and cell variables come in the order that they have in
    `code`, and in nested code as far as the orders agree. Empty if the names sort in this order already."""
    orders = [order for nested in names.nested_codes(code) for order in _orders(nested) if len(order) > 1]
    if all(list(order) == sorted(order) for order in orders):
        return {}
    before: dict[str, set[str]] = {}
    sequence: list[str] = []
    for order in orders:
        more = {name: set(earlier) for name, earlier in before.items()}
        for earlier, name in itertools.pairwise(order):
            more.setdefault(earlier, set())
            more.setdefault(name, set()).add(earlier)
        try:
            sequence = list(graphlib.TopologicalSorter(more).static_order())
        except graphlib.CycleError:
            continue
        before = more
    return {name: f"depyf_{position:04}_{name}" for position, name in enumerate(sequence)}


def _orders(code: types.CodeType) -> list[list[str]]:
    arguments: tuple[str, ...] = ()
    if sys.version_info >= (3, 11):  # those that are arguments come first, in the order of the arguments
        arguments = code.co_varnames
    cells = [name for name in code.co_cellvars if name not in arguments]
    return [[name for name in variables if name not in _FIXED] for variables in (list(code.co_freevars), cells)]


def renamed(tree: ast.Module, by: dict[str, str]) -> ast.Module:
    """Returns a copy of a tree with other names for its variables.

    Raises:
        ValueError: a name stands where it cannot be changed.
    """
    result: ast.Module = _Renamed(by).visit(copy.deepcopy(tree))
    return result


class _Renamed(ast.NodeTransformer):
    def __init__(self, by: dict[str, str]) -> None:
        self.by = by

    def generic_visit(self, node: ast.AST) -> ast.AST:
        # Name.id, arg.arg, and what else binds: def, class, except, patterns, global, nonlocal.
        for field in ("id", "arg", "name", "rest", "names"):
            value = getattr(node, field, None)
            if isinstance(node, (ast.keyword, ast.alias)):
                break
            if isinstance(value, str):
                setattr(node, field, self.by.get(value, value))
            elif isinstance(node, (ast.Global, ast.Nonlocal)) and isinstance(value, list):
                setattr(node, field, [self.by.get(name, name) for name in value])
        return super().generic_visit(node)

    def visit_alias(self, node: ast.alias) -> ast.alias:
        bound = node.asname or node.name.partition(".")[0]
        if bound in self.by:
            if node.asname is None and "." in node.name:
                raise ValueError(f"import {node.name} binds a variable whose order matters")
            node.asname = self.by[bound]
        return node


def restored(code: types.CodeType, by: dict[str, str]) -> types.CodeType:
    """Compiled code with the variables' own names again."""
    own = {new: name for name, new in by.items()}

    def all_of(variables: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(own.get(name, name) for name in variables)

    def qualified(name: str) -> str:
        return ".".join(own.get(part, part) for part in name.split("."))

    def change(nested: types.CodeType) -> types.CodeType:
        if hasattr(types.CodeType, "co_qualname"):
            nested = nested.replace(co_qualname=qualified(nested.co_qualname))
        consts = tuple(
            qualified(const) if type(const) is str and "depyf_" in const else const for const in nested.co_consts
        )
        return nested.replace(
            co_names=all_of(nested.co_names),
            co_varnames=all_of(nested.co_varnames),
            co_freevars=all_of(nested.co_freevars),
            co_cellvars=all_of(nested.co_cellvars),
            co_name=own.get(nested.co_name, nested.co_name),
            co_consts=consts,
        )

    return names.map_codes(code, change)
