"""Other names for the variables of a syntax tree.

A compiler sorts free and cell variables by name, Dynamo does not. So source is compiled under names that sort as wanted
(`_core.names_that_sort`), and the code gets the variables' own names back.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping


def renamed(tree: ast.Module, by: Mapping[str, str]) -> ast.Module:
    """Returns a copy of a tree with other names for its variables.

    Raises:
        ValueError: a name stands where it cannot be changed.
    """
    result: ast.Module = _Renamed(by).visit(copy.deepcopy(tree))
    return result


class _Renamed(ast.NodeTransformer):
    def __init__(self, by: Mapping[str, str]) -> None:
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
