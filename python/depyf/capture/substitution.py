"""From the text of a dumped graph or kernel to code that runs in the place of PyTorch's own, where that is proved.

A graph's file holds a class as PyTorch prints it; its graph module, and those in that, are matched with this class and
those in it, in order. Where the module takes its inputs in another way than it is printed with, in one list for example,
the statements for that come from its own code, and stand at the line of the `def`. A kernel's file holds a module;
functions are matched by their qualified names.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import Any

from depyf import running
from depyf.compat import graphs
from depyf.running import Swap

__all__ = ["graph_swap", "kernel_codes", "module_swap"]

Codes = dict[str, types.CodeType]


def graph_swap(module: Any, text: str) -> tuple[Swap | None, str]:
    """(what would have a graph module run a file with this text, why not)."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None, "PyTorch's own text is not Python"
    classes = _classes_in(tree)
    if len(classes) != 1:
        return None, "PyTorch's own text is not a class"
    pairs = []
    for graph, body in _matched(module, classes[0]):
        function = graphs.forward_of(graph)
        if function is None:
            reason = "the graph has no function written in Python"
        else:
            code, reason = _forward(graph, body, function.__code__)
            if code is not None:
                pairs.append((function, code))
        if reason and graph is module:
            return None, reason
    return Swap(pairs), ""


def _matched(module: Any, body: ast.ClassDef) -> Iterator[tuple[Any, ast.ClassDef]]:
    yield module, body
    inner = _classes_in(body)
    modules = graphs.submodules(module)
    if len(inner) == len(modules):
        for one, node in zip(modules, inner):
            yield from _matched(one, node)


def _classes_in(node: ast.Module | ast.ClassDef) -> list[ast.ClassDef]:
    return [one for one in node.body if isinstance(one, ast.ClassDef)]


def _forward_in(node: ast.Module | ast.ClassDef) -> ast.FunctionDef | None:
    return next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "forward"), None)


def _forward(graph: Any, body: ast.ClassDef, original: types.CodeType) -> tuple[types.CodeType | None, str]:
    """(the code of a graph module's function from what is printed of it, why there is none)."""
    printed, own = _forward_in(body), _forward_in(ast.parse(graphs.source(graph)))
    if printed is None or own is None or len(own.body) < len(printed.body):
        return None, "PyTorch's own text has no such function"
    before = own.body[: len(own.body) - len(printed.body)]
    for statement in (own.args, *before):
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = printed.lineno  # type: ignore[attr-defined]
                node.col_offset = node.end_col_offset = printed.col_offset  # type: ignore[attr-defined]
    printed.body[:0] = before
    printed.args, printed.returns = own.args, None
    for argument in ast.walk(printed.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    printed.args.defaults, printed.args.kw_defaults = [], [None] * len(printed.args.kwonlyargs)
    module = ast.Module([printed], [])
    code = next(running.functions_in(compile(module, "<dump>", "exec", dont_inherit=True)))[1]
    reason = running.reason_against(code, original)
    return (None, reason) if reason else (code, "")


def kernel_codes(text: str, own: str, path: str) -> tuple[Codes, str]:
    """(qualified name -> code that may run in place of Inductor's, why there is none).

    Args:
        text: of the dumped file.
        own: the text of Inductor's file.
        path: of Inductor's file.
    """
    mine, theirs = _compiled(text), _compiled(own, path)
    if mine is None or theirs is None:
        return {}, "PyTorch's own text is not Python"
    ours = dict(running.functions_in(mine))
    proved: Codes = {}
    for name, code in running.functions_in(theirs):
        if name not in ours:
            return {}, f"{name} is missing"
        reason = running.reason_against(ours[name], code)
        if reason:
            return {}, f"{name}: {reason}"
        proved[name] = ours[name]
    return proved, "" if proved else "it defines no function"


def module_swap(module: types.ModuleType, codes: Codes) -> Swap:
    """What has the functions of a module run the code that `kernel_codes` gave."""
    pairs = []
    for name, code in codes.items():
        owner, _, last = name.rpartition(".")
        table = vars(module)
        for part in owner.split(".") if owner else ():
            table = vars(table.get(part, object))  # type: ignore[assignment]
        function = table.get(last)
        if isinstance(function, (staticmethod, classmethod)):
            function = function.__func__
        if isinstance(function, types.FunctionType) and not running.reason_against(code, function.__code__):
            pairs.append((function, code))
    return Swap(pairs)


def _compiled(text: str, path: str = "<dump>") -> types.CodeType | None:
    try:
        return compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
