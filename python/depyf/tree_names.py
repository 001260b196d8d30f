"""Changes those names in the syntax tree of decompiled source that cannot be compiled unchanged.

Some names of attributes in bytecode, such as `0`, are not valid in Python source. Python's compiler sorts free and cell
variables by name, and Dynamo does not sort them. Source is compiled with new variable names that sort in Dynamo's order
(`_core.names_that_sort`), and the resulting code gets the original variable names.
"""

from __future__ import annotations

import ast
import copy
import keyword
import types
from collections.abc import Iterable, Mapping


def restore_attributes(tree: ast.Module, codes: Iterable[types.CodeType]) -> ast.Module:
    """Returns `tree` with `getattr(x, "NAME")` turned back into an attribute, for names in `codes` that are not valid
    in source.

    Dynamo loads attributes such as `0` of a `ModuleList`, which source can express only by a call of `getattr`.
    """
    wanted = {name for code in codes for name in code.co_names if not name.isidentifier() or keyword.iskeyword(name)}
    return _Attributes(wanted).visit(tree) if wanted else tree


class _Attributes(ast.NodeTransformer):
    def __init__(self, wanted: set[str]) -> None:
        self.wanted = wanted

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id != "getattr" or len(node.args) != 2 or node.keywords:
            return node
        name = node.args[1]
        if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or name.value not in self.wanted:
            return node
        return ast.copy_location(ast.Attribute(node.args[0], name.value, ast.Load()), node)


def renamed(tree: ast.Module, by: Mapping[str, str]) -> ast.Module:
    """Returns a copy of a tree with other names for its variables.

    Raises:
        ValueError: a name cannot be changed at a place where it occurs, such as `import a.b`.
    """
    result: ast.Module = _Renamed(by).visit(copy.deepcopy(tree))
    return result


class _Renamed(ast.NodeTransformer):
    def __init__(self, by: Mapping[str, str]) -> None:
        self.by = by

    def generic_visit(self, node: ast.AST) -> ast.AST:
        # The following fields contain the names in Name, in arg, and in all nodes that bind names: def, class, except,
        # patterns, global and nonlocal.
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
