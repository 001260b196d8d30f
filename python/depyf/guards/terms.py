"""Writes expressions in the user's terms: `x.shape[0]` for `L['x'].size()[0]`, `self.b1` for
`L['self'].__dict__['_modules']['b1']`."""

from __future__ import annotations

import ast
import functools
import re

# The dicts in which a module stores what its users reach as attributes.
_TABLES = {"__dict__", "_modules", "_parameters", "_buffers"}
_GENERATED = re.compile(r"^__(?:import_(?P<module>\w+)|builtins_dict__\w*)$")


@functools.lru_cache(maxsize=4096)  # The entries of a function have most of their guards in common.
def in_terms(expression: str) -> str:
    """Returns an expression over `L` and `G` in the user's terms; the expression itself if it is not Python."""
    try:
        tree = ast.parse(expression, mode="eval").body
        return ast.unparse(_Terms().visit(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return expression


class _Terms(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if type(key) is int and (modules := _modules_in_order(node.value)) is not None:
            return ast.Subscript(self.visit(modules), node.slice)
        if isinstance(node.value, ast.Name) and node.value.id in ("L", "G") and isinstance(key, str):
            return _name(key)
        if isinstance(key, str) and (key.isidentifier() or key.isdigit()):
            if _is_builtins(node.value) and key.isidentifier():
                return ast.Name(key)
            owner, table = _owner_of_table(node.value)
            if owner is not None and key.isidentifier():
                return ast.Attribute(self.visit(owner), key)
            # The owner can be a ModuleList, whose items are numbered.
            if owner is not None and table in ("_modules", "_parameters"):
                return ast.Subscript(self.visit(owner), ast.Constant(int(key)))
        size = node.value
        if _is_method(size, "size") and isinstance(size, ast.Call) and not size.args:
            return ast.Subscript(self._attribute(size, "shape"), self.visit(node.slice))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id == "__import__" and len(node.args) == 1:
            module = node.args[0]
            if isinstance(module, ast.Constant) and isinstance(module.value, str):
                return _name(module.value)
        if _is_method(node, "size"):
            shape = self._attribute(node, "shape")
            return shape if not node.args else ast.Subscript(shape, self.visit(node.args[0]))
        return self.generic_visit(node)  # type: ignore[return-value]

    def _attribute(self, call: ast.Call, name: str) -> ast.Attribute:
        assert isinstance(call.func, ast.Attribute)
        return ast.Attribute(self.visit(call.func.value), name)


def _owner_of_table(node: ast.expr) -> tuple[ast.expr | None, str]:
    """Returns (the module whose table an expression reads, the name of the table); (None, "") if it reads none."""
    if isinstance(node, ast.Attribute) and node.attr in _TABLES:
        return node.value, node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value in _TABLES:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "__dict__":
            return node.value.value, str(node.slice.value)
    return None, ""


def _modules_in_order(node: ast.expr) -> ast.expr | None:
    """Returns the module whose submodules a list contains in order: `self.blocks` for
    `list(dict.values(self.blocks._modules))`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "list" and node.args):
        return None
    values = node.args[0]
    if not isinstance(values, ast.Call) or ast.unparse(values.func) != "dict.values" or len(values.args) != 1:
        return None
    owner, table = _owner_of_table(values.args[0])
    return owner if table == "_modules" else None


def owner_in_terms(expression: str) -> str:
    """Returns an expression for a dict in the user's terms; for a table of a module, the module."""
    return re.sub(r"\.(?:_modules|_parameters|_buffers|__dict__)$", "", in_terms(expression))


def _is_method(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name


def _is_builtins(node: ast.expr) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    return isinstance(node.slice.value, str) and node.slice.value.startswith("__builtins_dict__")


def _name(name: str) -> ast.expr:
    """Returns a variable. Dynamo's own name for an imported module becomes the name of the module."""
    match = _GENERATED.match(name)
    if match and match["module"]:
        parts = match["module"].split("_dot_")
        tree: ast.expr = ast.Name(parts[0])
        for part in parts[1:]:
            tree = ast.Attribute(tree, part)
        return tree
    return ast.Name(name)


@functools.lru_cache(maxsize=4096)
def bounds(condition: str) -> tuple[tuple[str, str, str], ...]:
    """Returns the comparisons with constants that a condition consists of: (subject, operator, constant), in the user's
    terms.

    For `2 <= L['x'].size()[0] and L['x'].size()[0] <= 64` it returns `(("x.shape[0]", ">=", "2"), ("x.shape[0]", "<=",
    "64"))`. A comparison of sizes with a tuple gives one for each dimension. The result is empty for any other
    condition.
    """
    try:
        tree = ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    all_bounds: list[tuple[str, str, str]] = []
    for part in tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]:
        compared = _comparisons(part)
        if compared is None:
            return ()
        all_bounds += compared
    return tuple(all_bounds)


_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=", "is": "is", "is not": "is not"}


def _comparisons(tree: ast.expr) -> list[tuple[str, str, str]] | None:
    if not isinstance(tree, ast.Compare):
        return None
    compared = []
    for left, operator, right in zip([tree.left, *tree.comparators], tree.ops, tree.comparators, strict=False):
        sign = _OPERATORS.get(type(operator))
        if sign is None:
            return None
        if _is_plain(right) and not _is_plain(left):
            compared += _dimensions(left, sign, right)
        elif _is_plain(left) and not _is_plain(right):
            compared += _dimensions(right, _TURNED[sign], left)
        else:
            return None
    return compared


def _dimensions(subject: ast.expr, sign: str, constant: ast.expr) -> list[tuple[str, str, str]]:
    name = in_terms(ast.unparse(subject))
    if sign == "==" and isinstance(constant, ast.Tuple) and name.endswith((".shape", ".stride()")):
        name = name.removesuffix("()")
        template = "{}[{}]" if name.endswith(".shape") else "{}({})"
        return [(template.format(name, i), "==", ast.unparse(element)) for i, element in enumerate(constant.elts)]
    return [(name, sign, ast.unparse(constant))]


def _is_plain(tree: ast.expr) -> bool:
    """True if the expression means the same whatever the inputs are."""
    return not any(
        isinstance(node, ast.Name) and node.id in ("L", "G", "id", "type") for node in ast.walk(tree)
    ) and not (any(isinstance(node, ast.Call) for node in ast.walk(tree)))
