"""Turns Dynamo's expressions into plain Python that has the same meaning outside of Dynamo."""

from __future__ import annotations

import ast
import functools
import types
from typing import Any

from depyf.compat import guard_reads
from depyf.compat.guard_words import GUARDS
from depyf.guards import dynamo_words as words

# Maps a name in Dynamo's expressions to plain Python. Helper functions that a torch module defines are not listed; they
# are looked up by their names.
_NAMES = {
    "inf": "float('inf')",
    "nan": "float('nan')",
    "device": "torch.device",
    "utils_device": "torch.utils._device",
    "inspect": "__import__('inspect')",
    "math": "__import__('math')",
    "__math_isnan": "__import__('math').isnan",
    "__numpy_isnan": "__import__('numpy').isnan",
    "___check_type_id": f"{GUARDS}.check_type_id",
    "___check_obj_id": f"{GUARDS}.check_obj_id",
    "___dict_version": f"{GUARDS}.dict_version",
    "___dict_contains": "(lambda key, d: dict.__contains__(d, key))",
    "___odict_getitem": "__import__('collections').OrderedDict.__getitem__",
    "___namedtuple_fields": "(lambda x: x._fields)",
    "__load_module": "__import__('importlib').import_module",
}
_KNOWN = {"L", "G", "torch", "int", "float", "str", "bool", "bytes", "complex", "tuple", "list", "set", "frozenset"}
_KNOWN |= {
    "dict",
    "type",
    "len",
    "hasattr",
    "getattr",
    "isinstance",
    "range",
    "slice",
    "max",
    "min",
    "abs",
    "not",
    "id",
}
_KNOWN |= {"round", "pow", "sum", "sorted", "iter", "next", "object"}


@functools.lru_cache(maxsize=4096)  # The entries of a function have most texts in common.
def plain(text: str, source: str | None = None, x: str | None = None) -> str | None:
    """Returns Dynamo's text, or the repr of a key, as plain Python; None if the text cannot be written as plain Python.
    See `in_plain` for the parameters."""
    tree = words.parse(text)
    return None if tree is None else in_plain(tree, {}, source, x)


@functools.lru_cache(maxsize=4096)
def constant(condition: str) -> str | None:
    """Returns the right side of a condition `x == value` in plain Python; None for any other condition."""
    tree = words.compared(condition)
    return None if tree is None else in_plain(tree, {})


def unparsed(text: str) -> str | None:
    tree = words.parse(text)
    return None if tree is None else ast.unparse(tree)


def value_of(expression: str) -> Any:
    import torch

    try:
        return eval(expression, {"torch": torch})
    except Exception:
        return NOTHING


NOTHING = object()


def in_plain(tree: ast.expr, names: dict[str, str], source: str | None = None, x: str | None = None) -> str | None:
    """Returns an expression of Dynamo as plain Python; None if a name in the expression has no meaning outside of
    Dynamo.

    Args:
        names: a dict from names in the expression to the expressions that replace them.
        source, x: each occurrence of the expression `source` is replaced by `x`.
    """
    if isinstance(tree, ast.Constant):  # Most nodes are constants.
        return ast.unparse(tree)
    known = {**_NAMES, **names}
    bound = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    }
    wanted = None if source is None else unparsed(source)
    missing = False

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            nonlocal missing
            if wanted is not None and x is not None and isinstance(node, ast.expr) and ast.unparse(node) == wanted:
                return ast.parse(x, mode="eval").body
            if isinstance(node, ast.Name):
                if node.id in _KNOWN or node.id in bound:
                    return node
                plain = known.get(node.id) or _helper(node.id)
                if plain is None:
                    missing = True
                    return node
                return ast.parse(plain, mode="eval").body
            return self.generic_visit(node)

    try:
        done = Replace().visit(tree)
        return None if missing else ast.unparse(done)
    except RecursionError:
        return None


def _helper(name: str) -> str | None:
    """Returns a Python expression for a helper function that Dynamo's expressions call by `name`; None if no Python
    expression is known."""
    if guard_reads.is_size_function(name):
        return f"torch.fx.experimental.symbolic_shapes.SYMPY_INTERP[{name!r}]"
    value = guard_reads.helper(name)
    if not isinstance(value, types.FunctionType) or "<" in value.__qualname__:
        return None
    where = f"{value.__module__}.{value.__qualname__}"
    return where if value_of(where) is value else None
