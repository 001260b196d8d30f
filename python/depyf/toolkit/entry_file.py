"""Parses the file of an entry, which people edit and other processes load.

The file of an entry is Python source with the following parts.

    ENTRY names the function that the entry belongs to, and the versions of Python and PyTorch that wrote the file.
    NAMES is a dict with the names that the code needs and that neither the function's module nor Python defines.
    GUARDS is a list of the guards, which are expressions over L (the locals) and G (the globals).
    RESUMED lists the entries of resume functions, each with the name of the function that has the entry's code.
    In front of the last function are the graphs, the resume functions, and the code of the resume functions' entries,
    as far as they can be written.
    The last function in the file is the code of the entry.

Reading the file executes nothing in it: functions are compiled, but their definitions are not executed. A file of an
entry has to be trusted like a module, because the modules that NAMES and the guards name are imported, and loaded
functions run when they are called.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from depyf.toolkit.edits import Text
from depyf.toolkit.saving import RESUMED

_PARTS = ("ENTRY", "NAMES", "GUARDS")


Form = Literal["expression", "call", "only_here"]


@dataclass(frozen=True)
class Condition:
    """One element of the list GUARDS in the file of an entry."""

    line: int
    text: str
    form: Form
    """"expression" if the element is a condition; "call" or "only_here" if the element is a call of the function with
    this name."""


@dataclass(frozen=True)
class Parts:
    """The parts of the file of an entry."""

    path: str
    entry: dict[str, Any]
    names: dict[str, str]
    guards: list[Condition]
    below: dict[str, Text]
    code: Text
    resumed: list[Resumed] = field(default_factory=list)


@dataclass(frozen=True)
class Resumed:
    """An element of the list RESUMED in the file of an entry: the entry of a resume function."""

    line: int
    function: str
    """The name under which the file defines the resume function."""
    code: str
    """The name under which the file defines the function whose body is the entry's code."""
    compile_id: str | None
    names: dict[str, str]
    guards: list[Condition]


def read(path: Path) -> Parts:
    """Returns the parts of a file, without executing any of it.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: the file is not Python; the error has the file and the line.
        ValueError: a part is missing or malformed; the message names the file and the line.
    """
    return read_text(path.read_text(encoding="utf-8"), str(path))


def read_text(text: str, path: str = "<entry>") -> Parts:
    """Returns the parts of a file, as `read` does, from the text of the file."""
    tree = ast.parse(text, path)
    assignments: dict[str, ast.Assign] = {}
    functions: list[ast.FunctionDef] = []
    for node in tree.body:
        name = node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None
        if isinstance(node, ast.Assign) and name in (*_PARTS, RESUMED):
            assignments[name] = node
        elif isinstance(node, ast.FunctionDef):
            functions.append(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            raise ValueError(
                f"{path}, line {node.lineno}: an import has no effect here; NAMES defines the object that a name refers to "
                "('object module:name')"
            )
        elif not _is_docstring(node):
            raise ValueError(f"{path}, line {node.lineno}: only {', '.join(_PARTS)} and functions stand in such a file")
    for function in functions:
        _check_definition(function, path)
    for part in _PARTS:
        if part not in assignments:
            raise ValueError(f"{path}: {part} is missing, so this is not a file of a cache entry")
    if not functions:
        raise ValueError(f"{path}: the code is missing: the last function in the file")
    lines = text.splitlines(keepends=True)
    starts = [
        max((node.end_lineno or 0) for node in tree.body if node.lineno < function.lineno) for function in functions
    ]
    texts = [
        Text("".join(lines[start : function.end_lineno]).lstrip("\n"), path, _first(lines, start))
        for start, function in zip(starts, functions)
    ]
    return Parts(
        path,
        _dictionary(assignments["ENTRY"], path),
        _dictionary(assignments["NAMES"], path),
        _guards(assignments["GUARDS"], text, path),
        {function.name: part for function, part in zip(functions[:-1], texts)},
        texts[-1],
        _resumed(assignments[RESUMED], path) if RESUMED in assignments else [],
    )


def _check_definition(function: ast.FunctionDef, path: str) -> None:
    """Refuses a function definition with a part that Python would execute together with the definition, such as a
    decorator.

    Raises:
        ValueError: the definition has a part that Python would execute; the message names the file, the line and the
            part.
    """

    def refuse(node: ast.AST, problem: str) -> None:
        line = getattr(node, "lineno", function.lineno)
        raise ValueError(
            f"{path}, line {line}: {function.name} has {problem}: functions in such a file must not have any"
        )

    for decorator in function.decorator_list:
        refuse(decorator, "a decorator")
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    annotations = [argument.annotation for argument in every if argument is not None]
    for annotation in (*annotations, function.returns):
        if annotation is not None:
            refuse(annotation, "an annotation")
    for parameter in getattr(function, "type_params", ()):
        refuse(parameter, "a type parameter")
    for default in (*arguments.defaults, *arguments.kw_defaults):
        try:
            _ = None if default is None else ast.literal_eval(default)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            assert default is not None
            refuse(default, "a default value that is no constant")


def _resumed(node: ast.Assign, path: str) -> list[Resumed]:
    if not isinstance(node.value, (ast.List, ast.Tuple)):
        raise ValueError(f"{path}, line {node.lineno}: {RESUMED} is not a list")
    resumed = []
    for element in node.value.elts:
        try:
            fields = ast.literal_eval(element)
            function, code, compile_id = fields["function"], fields["code"], fields["compile id"]
            needed, conditions_said = dict(fields["names"]), list(fields["guards"])
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{path}, line {element.lineno}: this is not an entry of a resume function") from None
        listed = [Condition(element.lineno, str(text), "expression") for text in conditions_said]
        resumed.append(Resumed(element.lineno, str(function), str(code), compile_id, needed, listed))
    return resumed


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _first(lines: Sequence[str], start: int) -> int:
    """Returns the line number (counted from 1) of the first line at or after the index `start` that is not blank."""
    while start < len(lines) and not lines[start].strip("\n"):
        start += 1
    return start + 1


def _dictionary(node: ast.Assign, path: str) -> dict[str, Any]:
    try:
        value = ast.literal_eval(node.value)
    except (ValueError, TypeError):
        value = None
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{path}, line {node.lineno}: {ast.unparse(node.targets[0])} is not a dict of plain values")
    return value


def _guards(node: ast.Assign, text: str, path: str) -> list[Condition]:
    if not isinstance(node.value, (ast.List, ast.Tuple)):
        raise ValueError(f"{path}, line {node.lineno}: GUARDS is not a list")
    listed = []
    for element in node.value.elts:
        form: Form = "expression"
        condition_text = ast.get_source_segment(text, element) or ast.unparse(element)
        if (
            isinstance(element, ast.Call)
            and isinstance(element.func, ast.Name)
            and element.func.id in ("call", "only_here")
        ):
            form = "call" if element.func.id == "call" else "only_here"
            argument = element.args[0] if len(element.args) == 1 else None
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                raise ValueError(f"{path}, line {element.lineno}: {form} takes one text")
            condition_text = argument.value
        elif isinstance(element, ast.Constant) and isinstance(element.value, str):
            condition_text = element.value
        listed.append(Condition(element.lineno, condition_text, form))
    return listed
