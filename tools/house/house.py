"""Figures of the source, each with its goal and the worst places. The exit status is 1 if a goal is missed.

python tools/house/house.py [--worst N]
"""

from __future__ import annotations

import argparse
import ast
import collections
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import layers
import lizard

ROOT = Path(__file__).resolve().parent.parent.parent
CPP = {".cpp", ".h", ".inc", ".def"}
FUNCTION_LINES_MAX = 100
CLASS_MEMBERS_MAX = 30
FILE_LINES_MAX = 400
HEAD_LINES = 30
"""A file longer than FILE_LINES_MAX must state the reason in its first HEAD_LINES lines, in a sentence with the words
"one file"."""
EMPTY_SHARE_MAX = 0.01
EMPTY_NAMES = set("one other found made out at it thing what told like such said those".split())
"""Names that do not describe their value."""
VERSION_PLACES = ("src/load/", "src/decode/", "src/dialect/")
"""Only the files below these folders compare releases of CPython. All other files read facts about a release from its
`Dialect`."""
TABLE = "table"
"""A longer function is allowed if the comment in front of it says that it is a table."""


@dataclass
class Figure:
    """One row of the printed table: a figure with its goal and the worst places."""

    title: str
    goal: str
    value: str
    is_met: bool
    worst: list[str]


def tracked(folders: Iterable[str], suffixes: set[str]) -> list[Path]:
    """Returns the files of the repository below some folders that have one of the suffixes."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = (ROOT / line for line in listed.stdout.splitlines())
    return sorted(path for path in paths if path.suffix in suffixes and path.is_file())


def place(path: Path, line: int = 0) -> str:
    """Returns a path within the repository, with a line if there is one."""
    relative = path.relative_to(ROOT).as_posix()
    return f"{relative}:{line}" if line else relative


def counted(title: str, wrong: list[str]) -> Figure:
    """Returns the figure that counts places that break a rule; its goal is 0."""
    return Figure(title, "0", str(len(wrong)), not wrong, wrong)


def long_functions(cpp: list[Path], python: list[Path]) -> Figure:
    """Returns the figure of functions over FUNCTION_LINES_MAX lines whose comment does not call them a table."""
    rows = []
    for path in [*cpp, *python]:
        lines = path.read_text("utf-8").splitlines()
        for function in lizard.analyze_file(str(path)).function_list:
            length = function.end_line - function.start_line + 1
            if length > FUNCTION_LINES_MAX and TABLE not in comment_before(lines, function.start_line):
                rows.append((length, f"{place(path, function.start_line)} {function.name}, {length} lines"))
    return counted(f"functions over {FUNCTION_LINES_MAX} lines that are no tables", [text for _, text in ranked(rows)])


def comment_before(lines: list[str], line: int) -> str:
    """Returns the lines of comment directly in front of a line, which counts from 1."""
    start = line - 1
    while start > 0 and lines[start - 1].lstrip().startswith(("//", "#")):
        start -= 1
    return "\n".join(lines[start : line - 1])


def ranked(rows: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Returns the rows by descending number; rows with equal numbers are sorted by text."""
    return sorted(rows, key=lambda row: (-row[0], row[1]))


def large_python_classes(python: list[Path]) -> Figure:
    """Returns the figure of Python classes with more than CLASS_MEMBERS_MAX methods, properties and fields."""
    rows = []
    for path in python:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and (count := len(members(node))) > CLASS_MEMBERS_MAX:
                rows.append((count, f"{place(path, node.lineno)} {node.name}, {count} members"))
    return counted(f"Python classes over {CLASS_MEMBERS_MAX} members", [text for _, text in ranked(rows)])


def members(node: ast.ClassDef) -> set[str]:
    """Returns the names of the methods and fields of a class."""
    names = set()
    for child in node.body:
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(child.name)
        elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            names.add(child.target.id)
        elif isinstance(child, ast.Assign):
            names.update(target.id for target in child.targets if isinstance(target, ast.Name))
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store) and isinstance(child.value, ast.Name):
            if child.value.id == "self":
                names.add(child.attr)
    return names


def large_cpp_classes(cpp: list[Path]) -> Figure:
    """Returns the figure of C++ classes with more than CLASS_MEMBERS_MAX functions that have a body; fields are not
    counted."""
    functions: collections.Counter[str] = collections.Counter()
    for path in cpp:
        for function in lizard.analyze_file(str(path)).function_list:
            owner = function.name.rpartition("::")[0]
            if owner.rpartition("::")[2][:1].isupper():  # a namespace begins with a small letter
                functions[owner] += 1
    rows = [(count, f"{name}, {count} functions") for name, count in functions.items() if count > CLASS_MEMBERS_MAX]
    return counted(f"C++ classes over {CLASS_MEMBERS_MAX} functions", [text for _, text in ranked(rows)])


def long_files(paths: list[Path]) -> Figure:
    """Returns the figure of files over FILE_LINES_MAX lines that do not state a reason for their length."""
    rows = []
    for path in paths:
        lines = path.read_text("utf-8").splitlines()
        if len(lines) > FILE_LINES_MAX and "one file" not in " ".join(lines[:HEAD_LINES]).lower():
            rows.append((len(lines), f"{place(path)}, {len(lines)} lines"))
    return counted(f"files over {FILE_LINES_MAX} lines without a reason", [text for _, text in ranked(rows)])


def empty_names(python: list[Path]) -> Figure:
    """Returns the figure of assigned names and arguments that are in EMPTY_NAMES, as a share of all assigned names and
    arguments."""
    total = 0
    places = []
    for path in python:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = ""
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            elif isinstance(node, ast.arg):
                name = node.arg
            if name:
                total += 1
            if name in EMPTY_NAMES:
                places.append(f"{place(path, node.lineno)} {name}")  # type: ignore[attr-defined]
    share = len(places) / total
    value = f"{len(places)} of {total}, {share:.1%}"
    return Figure("names that say nothing, Python", f"{EMPTY_SHARE_MAX:.0%}", value, share <= EMPTY_SHARE_MAX, places)


def matching_lines(title: str, paths: list[Path], pattern: str) -> Figure:
    """Returns the figure of lines of files that match a pattern."""
    compiled = re.compile(pattern)
    wrong = [
        f"{place(path, number)} {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if compiled.search(line)
    ]
    return counted(title, wrong)


def figures() -> list[Figure]:
    """Returns all figures, in the order in which they are printed."""
    cpp = tracked(["src", "include"], CPP)
    sources = [path for path in cpp if path.suffix in {".cpp", ".h"}]
    python = tracked(["python/depyf"], {".py"})
    free_of_versions = [path for path in cpp if not place(path).startswith(VERSION_PLACES)]
    imports = layers.imports(ROOT / "python" / "depyf")
    row_of = layers.rows((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    return [
        long_functions(sources, python),
        large_python_classes(python),
        large_cpp_classes(sources),
        long_files([*cpp, *python, *tracked(["src"], {".js", ".css"})]),
        empty_names(python),
        matching_lines("default: in switches", cpp, r"^\s*default:"),
        matching_lines("version literals outside their places", free_of_versions, r"\bVersion\{3,"),
        counted("imports of depyf in functions", layers.in_functions(imports)),
        counted("circles of imports", [" -> ".join(circle) for circle in layers.circles(imports)]),
        counted("imports against the table of layers", layers.upward(imports, row_of)),
    ]


def main() -> int:
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--worst", type=int, default=5, help="print this number of places below each figure (default: 5)"
    )
    shown_max = parser.parse_args().worst
    all_met = True
    for figure in figures():
        all_met = all_met and figure.is_met
        print(f"{'  ' if figure.is_met else '! '}{figure.title}: {figure.value} (goal: {figure.goal})")
        if not figure.is_met:
            for text in figure.worst[:shown_max]:
                print(f"      {text}")
            if len(figure.worst) > shown_max:
                print(f"      and {len(figure.worst) - shown_max} more")
    return int(not all_met)


if __name__ == "__main__":
    sys.exit(main())
