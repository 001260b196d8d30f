"""The imports of python/depyf, and the rules for them.

ARCHITECTURE.md has the table of layers. A module imports only modules of its own row and of rows above it; no two
modules import each other, directly or through other modules; no function imports a module of depyf. An import under
TYPE_CHECKING obeys the table too, but may be part of a cycle, because it loads no module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HEADING = "### Layers"
"""The heading of the table in ARCHITECTURE.md. Each row of the table has a name, and in backquotes its modules and
folders."""

Kind = Literal["at load", "in a function", "for types", "by name"]
"""When an import takes place. "by name": the text of a module's name, in a file that calls `import_module`."""


@dataclass(frozen=True)
class Import:
    """An import of one module of depyf by another."""

    importer: str
    line: int
    imported: str
    kind: Kind

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}: {self.imported}, {self.kind}"


def modules(package: Path) -> dict[str, Path]:
    """Returns the path of each module of a package by its full name. An extension module counts by its stub."""
    named = {}
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


def imports(package: Path) -> list[Import]:
    """Returns every import of a module of the package by a module of the package."""
    known = modules(package)
    return [found for name, path in known.items() for found in _imports_of(name, path.read_text("utf-8"), known)]


def _imports_of(importer: str, text: str, known: Mapping[str, Path]) -> Iterator[Import]:
    tree = ast.parse(text)
    todo: list[tuple[ast.AST, Kind]] = [(tree, "at load")]
    while todo:
        parent, kind = todo.pop()
        for node in ast.iter_child_nodes(parent):
            inner = kind
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                inner = "in a function"
            elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                inner = "for types"
            todo.append((node, inner))
            for name in _named(node, known):
                yield Import(importer, node.lineno, name, inner)
    if "import_module(" in text:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known:
                yield Import(importer, node.lineno, node.value, "by name")


def _named(node: ast.AST, known: Mapping[str, Path]) -> list[str]:
    """Returns the modules of the package that a statement imports. `from a import b` imports `a.b` if that is a module."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name in known]
    if isinstance(node, ast.ImportFrom) and node.module in known:
        submodules = [f"{node.module}.{alias.name}" for alias in node.names]
        return [name if name in known else str(node.module) for name in submodules]
    return []


def rows(architecture: str) -> dict[str, int]:
    """Returns the row of each module and folder that the table of layers names, from the text of ARCHITECTURE.md.

    Raises:
        ValueError: the text has no table of layers, or the table names a module twice.
    """
    _, heading, behind = architecture.partition(f"\n{HEADING}\n")
    if not heading:
        raise ValueError(f"ARCHITECTURE.md has no heading {HEADING!r}")
    table = re.findall(r"^\|(.+)\|$", re.split(r"^#", behind, maxsplit=1, flags=re.MULTILINE)[0], re.MULTILINE)
    row_of: dict[str, int] = {}
    for number, row in enumerate(table[2:]):  # without the header row and the line |---|
        for name in re.findall(r"`([\w/]+)`", row.split("|")[1]):
            if name in row_of:
                raise ValueError(f"the table of layers names {name} twice")
            row_of[name] = number
    return row_of


def unit(module: str) -> str:
    """Returns the first name of a module's path within the package, which is the module or folder in the table of
    layers."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def upward(found: list[Import], row_of: Mapping[str, int]) -> list[str]:
    """Returns a sentence for each import of a row further down, and for each module that the table does not name."""
    units = {unit(module) for each in found for module in (each.importer, each.imported)}
    wrong = [f"{name} is not in the table of layers" for name in sorted(units - row_of.keys())]
    return wrong + [
        f"{each}, which is a layer above it"
        for each in found
        if row_of.get(unit(each.imported), -1) > row_of.get(unit(each.importer), len(row_of))
    ]


def in_functions(found: list[Import]) -> list[str]:
    """Returns the imports that a function executes."""
    return [str(each) for each in found if each.kind == "in a function"]


def circles(found: list[Import]) -> list[list[str]]:
    """Returns the sets of modules that import each other, directly or through other modules. Imports for types alone do
    not count."""
    imported: dict[str, set[str]] = {}
    for each in found:
        if each.kind in ("at load", "in a function"):
            imported.setdefault(each.importer, set()).add(each.imported)
    reached = {module: _reached(module, imported) for module in imported}
    in_circle = [module for module, names in reached.items() if module in names]
    groups = {frozenset(name for name in in_circle if name in reached[m] and m in reached[name]) for m in in_circle}
    return sorted(sorted(group) for group in groups)


def _reached(module: str, imported: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    todo = [module]
    while todo:
        for name in imported.get(todo.pop(), ()):
            if name not in reached:
                reached.add(name)
                todo.append(name)
    return reached
