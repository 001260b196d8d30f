"""Compiles the text of a dumped graph or kernel to code that runs in place of PyTorch's own code, if the compiled code
is proved equal to PyTorch's code.

The dumped file of a graph contains the class that PyTorch prints for a graph module, with one nested class for each
nested graph module. Graph modules and printed classes are matched with each other in their order. If the function of a
graph module has the parameters of the printed function, the text of the file is compiled unchanged. If a graph module
takes all inputs in one list, but the printed function does not, the statements that unpack the list are copied from the
graph module's own code to the line of the `def`. The copied statements become a part of the file's text if AOTAutograd
derived the graph, and a part of the file's syntax tree in all other cases. If an input has another name in the file
than in PyTorch's code, the copied statements use the name in the file, but the parameters of the function keep
PyTorch's names. The dumped file of a kernel (Inductor's output code) is a Python module. If the dumped file of a kernel
only adds comments in front of the text of Inductor's own file, the functions of Inductor's module keep their bytecode
and only get other line numbers. If the dumped file of a kernel differs from Inductor's own file in any other way, the
functions of the two files are matched by their qualified names, and proved equal.
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
# Matches the beginning of a graph's function that takes all inputs in one list, and clears the list after reading it
# (`args.clear()`).
_TAKES_LIST = re.compile(r"\s*(def forward\(self, (\w+)[^\n]*\):)\n((?:    \S[^\n]*\n)+?    \2\.clear\(\)\n)")


def graph_swap(module: Any, text: str) -> tuple[Swap | None, str]:
    """Returns a pair (swap, reason). The swap makes the graph module run a file with the text `text`. If the swap is
    None, `reason` states why; otherwise `reason` is ""."""
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
    """Returns the swap that makes a graph module run the code of the text. Returns None unless the graph has no nested
    graphs, takes its inputs as the printed function does or in one list, and is proved equal to the text.

    No syntax tree is built, because building it would take most of the time for a large graph.
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
    """Returns `text` with the function `forward` changed to take all inputs in one list, as PyTorch's own code `own`
    does. The statements that unpack the list are on one added line below the `def`. Returns None if the code `own` does
    not begin with statements that unpack a list."""
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
    """Returns the code of the function `forward` in a text; None if the text has any other function, or is not valid
    Python."""
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
    """Returns a pair (code, reason). `code` is the code for a graph module's function, compiled from the printed class
    `body`. If `code` is None, `reason` states why; otherwise `reason` is "".

    Args:
        renames: a dict from PyTorch's name of an input to the name of the input in the text.
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
            # The copied statements must have the line number of the `def`, and parsing their text at this line is
            # faster than changing the line number of each syntax node.
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
    """Returns a pair (swap, reason). The swap makes the functions of Inductor's output code run the code of the dumped
    file. If the swap is None, `reason` states why; otherwise `reason` is "".

    Args:
        module: the module that Inductor has loaded from its own file; None if Inductor has not loaded this file.
        own: the text of the file that Inductor itself wrote.
        text: the text of the dumped file.
        path: the path of the file that Inductor itself wrote.
    """
    if module is not None and text.endswith(own.rstrip() + "\n") and _is_text_of(path, own):
        # The dumped file only adds comment lines above Inductor's text, so its bytecode is that of Inductor's file,
        # with line numbers that are larger by the number of added lines.
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
    """Yields a pair (qualified name, function) for each function and method that a module itself defines."""
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
    """Returns a pair (codes, reason). `codes` maps qualified names to the code objects that may run in place of
    Inductor's own. If `codes` is empty, `reason` states why; otherwise `reason` is ""."""
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
