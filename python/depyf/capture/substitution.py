"""Compiles the text of a dumped graph or kernel to code that runs in place of PyTorch's own code, if both are proved
equal.

A graph's file contains a class as PyTorch prints it; the graph module and its nested graph modules are matched with
this class and its nested classes, in order. The text of a graph is compiled unchanged if the graph module takes its
inputs as printed. If the module takes its inputs in another way, for example in one list, the statements that unpack
the inputs are copied from the module's own code to the line of the `def`: into the text for the list of AOTAutograd's
graphs, and into the syntax tree in all other cases. Inputs that have other names in the file than in PyTorch's code are
renamed in the statements that are copied from that code, too; the function's own parameters keep their names. The
dumped file of a kernel contains a Python module. If a kernel's dumped file is the text of Inductor's file below more
comments, its functions only get other positions and keep their bytecode; otherwise the functions of both files are
matched by their qualified names, and proved equal.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator
from typing import Any

from depyf import _core, instrumented, running
from depyf.compat import graphs
from depyf.running import Swap

__all__ = ["graph_swap", "kernel_swap"]

Codes = dict[str, types.CodeType]
_DEFINED = (types.FunctionType, staticmethod, classmethod, type)
_FIRST_INPUT = re.compile(r"def forward\(\s*self(?:,\s*(\w+))?")
_PRINTED_DEF = re.compile(r"^( *)def forward\(.*?\).*?:\n", re.MULTILINE | re.DOTALL)
# Matches the function of a graph that takes all inputs in one list and clears the list after reading it
# (`args.clear()`).
_TAKES_LIST = re.compile(r"\s*(def forward\(self, (\w+)[^\n]*\):)\n((?:    \S[^\n]*\n)+?    \2\.clear\(\)\n)")


def graph_swap(module: Any, text: str) -> tuple[Swap | None, str]:
    """Returns (the swap that makes a graph module run a file with this text, or None, and the reason if there is no
    swap)."""
    from_text = _from_text(module, text)
    if from_text is not None:
        return from_text, ""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None, "PyTorch's own text is not Python"
    classes = _classes_in(tree)
    if len(classes) != 1:
        return None, "PyTorch's own text is not a class"
    pairs = []
    renames = _core.input_names_in(text)
    for graph, body in _matched(module, classes[0]):
        function = graphs.forward_of(graph)
        if function is None:
            reason = "the graph has no function written in Python"
        else:
            code, reason = _forward(graph, body, function.__code__, renames if graph is module else {})
            if code is not None:
                pairs.append((function, code))
        if reason and graph is module:
            return None, reason
    return Swap(pairs), ""


def _from_text(module: Any, text: str) -> Swap | None:
    """Returns the swap that makes a graph run the text, if the graph has no nested graphs and takes its inputs as
    printed or in a list; otherwise None.

    No syntax tree is built, because that would take most of the time for a large graph.
    """
    function, written = graphs.forward_of(module), _FIRST_INPUT.search(text)
    if function is None or written is None or graphs.submodules(module):
        return None
    original = function.__code__
    inputs = original.co_varnames[1 : original.co_argcount]
    if (inputs[0] if inputs else None) == written[1]:
        code = _function_in(text)
    else:
        changed = _with_list_of_inputs(text, graphs.source(module))
        code = None if changed is None else _function_in(changed)
        code = None if code is None else _core.raised_by_one_line(code)
    if code is None:
        return None
    code = _core.named_like(code, original)
    return None if running.reason_against(code, original) else Swap([(function, code)])


def _with_list_of_inputs(text: str, own: str) -> str | None:
    """Returns a text whose function takes its inputs in a list, by statements on a line of their own below the `def`,
    so that all following lines move down by one; None if the function's own code does not begin with such
    statements."""
    taking, printed = _TAKES_LIST.match(own), _PRINTED_DEF.search(text)
    if taking is None or printed is None:
        return None
    indent, lines = printed[1], printed[0].count("\n")
    statements = "; ".join(line.strip() for line in taking[3].splitlines())
    renames = _core.input_names_in(text)
    if renames:
        statements = _core.with_names(statements, renames)
    blank = "\n" * (lines - 1)
    return f"{text[: printed.start()]}{indent}{taking[1]}\n{indent}    {statements}\n{blank}{text[printed.end() :]}"


def _function_in(text: str) -> types.CodeType | None:
    """Returns the code of the only function in a text, `forward`."""
    compiled = _compiled(text)
    codes = [] if compiled is None else [code for _, code in running.functions_in(compiled)]
    return codes[0] if len(codes) == 1 and codes[0].co_name == "forward" else None


def _matched(module: Any, body: ast.ClassDef) -> Iterator[tuple[Any, ast.ClassDef]]:
    yield module, body
    inner = _classes_in(body)
    modules = graphs.submodules(module)
    if len(inner) == len(modules):
        for submodule, node in zip(modules, inner):
            yield from _matched(submodule, node)


def _classes_in(node: ast.Module | ast.ClassDef) -> list[ast.ClassDef]:
    return [statement for statement in node.body if isinstance(statement, ast.ClassDef)]


def _forward_in(node: ast.Module | ast.ClassDef) -> ast.FunctionDef | None:
    return next(
        (
            statement
            for statement in node.body
            if isinstance(statement, ast.FunctionDef) and statement.name == "forward"
        ),
        None,
    )


def _forward(
    graph: Any, body: ast.ClassDef, original: types.CodeType, renames: dict[str, str]
) -> tuple[types.CodeType | None, str]:
    """Returns (the code of a graph module's function, compiled from its printed text, or None, and the reason if there
    is no code).

    Args:
        renames: PyTorch's name of an input -> its name in the text.
    """
    source = graphs.source(graph)
    printed, own = _forward_in(body), _forward_in(ast.parse(source))
    if printed is None or own is None or len(own.body) < len(printed.body):
        return None, "PyTorch's own text has no such function"
    before = own.body[: len(own.body) - len(printed.body)]
    parameters = [parameter.arg for parameter in own.args.args if parameter.arg in renames]
    if before or parameters:
        lines = source.encode().split(b"\n")
        texts = [
            lines[statement.lineno - 1][statement.col_offset : statement.end_col_offset].decode()
            for statement in before
        ]
        taken = {old: name for old, name in renames.items() if old not in parameters}
        texts = [_core.with_names(text, taken) for text in texts] if taken else texts
        texts += [f"{renames[parameter]} = {parameter}; del {parameter}" for parameter in parameters]
        try:
            # The statements are parsed again at the line of the `def`, which is faster than changing the line number of
            # each node.
            before = ast.parse("\n" * (printed.lineno - 1) + "; ".join(texts)).body
        except SyntaxError:
            return None, "its inputs are not taken by statements of one line each"
    printed.body[:0] = before
    arguments = printed.args = own.args
    printed.returns = None
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    module = ast.Module([printed], [])
    code = next(running.functions_in(compile(module, "<dump>", "exec", dont_inherit=True)))[1]
    reason = running.reason_against(code, original)
    return (None, reason) if reason else (code, "")


def kernel_swap(module: types.ModuleType | None, own: str, text: str, path: str) -> tuple[Swap | None, str]:
    """Returns (the swap that makes Inductor's output code run a file with this text, or None, and the reason if there
    is no swap).

    Args:
        module: the module that Inductor has loaded from its file; None if it has loaded none.
        own: the text of Inductor's file.
        text: the text of the dumped file.
        path: the path of Inductor's file.
    """
    if module is not None and text.endswith(own.rstrip() + "\n") and _is_text_of(path, own):
        # The dumped file only adds comment lines above Inductor's text, so the bytecode is the same, and its line
        # numbers grow by the number of added lines.
        shift = text[: -len(own.rstrip()) - 1].count("\n")
        functions = dict(_functions_of(module))
        if functions and all(instrumented.plain(function).co_filename == path for function in functions.values()):
            return Swap(
                [
                    (function, _core.moved(instrumented.plain(function), lines_down=shift))
                    for function in functions.values()
                ]
            ), ""
    codes, reason = _kernel_codes(text, own, path)
    if not reason and module is None:
        reason = "Inductor did not load it"
    if reason or module is None:
        return None, reason
    functions = dict(_functions_of(module))
    pairs = [
        (functions[name], code)
        for name, code in codes.items()
        if name in functions and not running.reason_against(code, instrumented.plain(functions[name]))
    ]
    return (Swap(pairs), "") if pairs else (None, "what Inductor has loaded is not its own text")


def _is_text_of(path: str, text: str) -> bool:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read() == text
    except (OSError, ValueError):
        return False


def _functions_of(module: types.ModuleType) -> Iterator[tuple[str, types.FunctionType]]:
    """Yields (qualified name, function) of the functions and methods that a module defines itself."""
    todo: list[tuple[str, Any]] = [("", module)]
    for prefix, owner in todo:  # The list grows during the loop.
        members: list[tuple[str, Any]] = [
            (name, value) for name, value in vars(owner).items() if isinstance(value, _DEFINED)
        ]
        for name, value in members:
            if isinstance(value, (staticmethod, classmethod)):
                value = value.__func__
            if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
                yield prefix + name, value
            elif isinstance(value, type) and value.__module__ == module.__name__ and not prefix:
                todo.append((f"{name}.", value))


def _kernel_codes(text: str, own: str, path: str) -> tuple[Codes, str]:
    """Returns (a dict from qualified names to codes that may run in place of Inductor's, and the reason if the dict is
    empty)."""
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


def _compiled(text: str, path: str = "<dump>") -> types.CodeType | None:
    try:
        return compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
