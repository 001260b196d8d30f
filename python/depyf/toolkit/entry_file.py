"""One entry as one Python file: written for people to edit and for other processes to load.

    ENTRY = {...}     which function it is of, and which Python and PyTorch made it
    NAMES = {...}     what the code needs besides what the function's module and Python have
    GUARDS = [...]    expressions over L and G
    RESUMED = [...]   the entries of resume functions: as the above, with the name of the function that is the code
    def ...           graphs, resume functions and the code of their entries, as far as they can be written
    def ...           the code

Reading runs nothing of the file: functions are compiled, and not made by running their definitions. The modules that NAMES and
guards name are imported, and what is loaded runs when it is called, so a file is to be trusted as a module is.
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
    """One element of GUARDS."""

    line: int
    text: str
    form: Form
    """"expression", or the name of what is called: "call" or "only_here"."""


@dataclass(frozen=True)
class Parts:
    """What a file says."""

    path: str
    entry: dict[str, Any]
    names: dict[str, str]
    guards: list[Condition]
    below: dict[str, Text]
    code: Text
    resumed: list[Resumed] = field(default_factory=list)


@dataclass(frozen=True)
class Resumed:
    """One element of RESUMED: an entry of a resume function."""

    line: int
    function: str
    """The name of the resume function in the file."""
    code: str
    """The name of the function that is the entry's code."""
    compile_id: str | None
    names: dict[str, str]
    guards: list[Condition]


def read(path: Path) -> Parts:
    """Returns the parts of a file. Runs none of it.

    Raises:
        OSError: it cannot be read.
        SyntaxError: it is not Python; carries file and line.
        ValueError: a part is missing or not as it has to be; the message names file and line.
    """
    return read_text(path.read_text(encoding="utf-8"), str(path))


def read_text(text: str, path: str = "<entry>") -> Parts:
    """`read` for a text."""
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
                f"{path}, line {node.lineno}: an import has no effect here: NAMES says what a name stands for "
                "('object module:name')"
            )
        elif not _is_docstring(node):
            raise ValueError(f"{path}, line {node.lineno}: only {', '.join(_PARTS)} and functions stand in such a file")
    for function in functions:
        _check_definition(function, path)
    for part in _PARTS:
        if part not in assignments:
            raise ValueError(f"{path}: {part} is missing: this is not a file of a cache entry")
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
    """Refuses what would run when a function is defined, and has no part in what the function does.

    Raises:
        ValueError: the message names file, line and what it is.
    """

    def refuse(node: ast.AST, problem: str) -> None:
        line = getattr(node, "lineno", function.lineno)
        raise ValueError(f"{path}, line {line}: {function.name} has {problem}: functions in such a file have none")

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
            raise ValueError(f"{path}, line {element.lineno}: this is no entry of a resume function") from None
        listed = [Condition(element.lineno, str(text), "expression") for text in conditions_said]
        resumed.append(Resumed(element.lineno, str(function), str(code), compile_id, needed, listed))
    return resumed


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _first(lines: Sequence[str], start: int) -> int:
    """Returns the first line from `start` on, from 0, that is not blank; counted from 1."""
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
