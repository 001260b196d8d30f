"""Counts the single changes of C++ sources that tests notice. Each single change of the sources is built and tested in
a copy of the repository.

The tests are the C++ tests, and two tests of the gate on tests/cases: which code objects are proved, and which mutants
of their decompiled trees are refused.
"""

from __future__ import annotations

import marshal
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import MAGIC_NUMBER
from pathlib import Path

# Patterns for operators and constants, and their replacements, which are not applied to comments, strings and
# preprocessor directives.
CHANGES = [
    (re.compile(r" == "), " != "),
    (re.compile(r" != "), " == "),
    (re.compile(r" < "), " <= "),
    (re.compile(r" <= "), " < "),
    (re.compile(r" > "), " >= "),
    (re.compile(r" >= "), " > "),
    (re.compile(r" && "), " || "),
    (re.compile(r" \|\| "), " && "),
    (re.compile(r" \+ 1\b"), " + 2"),
    (re.compile(r" - 1\b"), " - 2"),
    (re.compile(r"\breturn true;"), "return false;"),
    (re.compile(r"\breturn false;"), "return true;"),
    (re.compile(r"\bcontinue;"), "break;"),
    (re.compile(r"\(!(?=[a-z])"), "("),
]
TEST_SECONDS = 120  # a change may make a loop endless
TREE_MUTANTS = 400


def places(folder: Path) -> Iterator[tuple[Path, int, int, int, str]]:
    """Yields (file, line index, start column, end column, the text that replaces the columns) for each possible
    change."""
    for path in sorted(folder.glob("*.cpp")):
        for index, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            code = re.sub(r'"(?:[^"\\]|\\.)*"', lambda text: " " * len(text[0]), line.partition("//")[0])
            if code.lstrip().startswith("#"):
                continue
            for pattern, replacement in CHANGES:
                for match in pattern.finditer(code):
                    yield path, index, match.start(), match.end(), replacement


def score(root: Path, folder: str, count: int, seed: int) -> tuple[int, int, list[str]]:
    """Makes up to `count` single changes, one after another, and builds and tests each.

    Returns: (the number of changes that a test noticed or the compiler refused, the number of all changes, the
        unnoticed changes as `file:line: text`).
    """
    copy = root / "build" / "mutation" / root.name
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns("build", ".venv", ".git", ".cache", "dist")
    shutil.copytree(root, copy, ignore=ignored, symlinks=True)
    build = root / "build" / "mutation" / "build"
    configure = ["cmake", "-S", str(copy), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Dev"]
    configure += ["-DCMAKE_CXX_FLAGS_DEV=-O1", "-DDEPYF_BUILD_EXTENSION=OFF"]
    subprocess.run(configure, check=True, capture_output=True)
    make = ["cmake", "--build", str(build), "--target", "depyf_tests", "depyf-decompile", "depyf-tree-mutants"]
    subprocess.run(make, check=True, capture_output=True)
    if not passes(build, copy):
        raise RuntimeError("the tests fail before anything is changed")
    files = compiled_cases(copy, build / "cases")
    judged_before = judged(build, files)
    if not judged_before:
        raise RuntimeError("the gate does not end before anything is changed")
    all_places = list(places(copy / folder))
    chosen = random.Random(seed).sample(all_places, min(count, len(all_places)))
    survivors = []
    for path, index, start, end, replacement in chosen:
        before = path.read_text(encoding="utf-8")
        lines = before.splitlines(keepends=True)
        lines[index] = lines[index][:start] + replacement + lines[index][end:]
        path.write_text("".join(lines), encoding="utf-8")
        is_built = subprocess.run(make, capture_output=True).returncode == 0
        if is_built and passes(build, copy) and judged(build, files) == judged_before:
            survivors.append(f"{path.relative_to(copy)}:{index + 1}: {lines[index].strip()}")
        path.write_text(before, encoding="utf-8")
    return len(chosen) - len(survivors), len(chosen), survivors


def passes(build: Path, directory: Path) -> bool:
    """True if the C++ tests pass."""
    try:
        tests = subprocess.run([str(build / "depyf_tests")], cwd=directory, capture_output=True, timeout=TEST_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return tests.returncode == 0


def compiled_cases(directory: Path, folder: Path) -> list[Path]:
    """Compiles the cases that this interpreter can compile to files in `folder`."""
    folder.mkdir(exist_ok=True)
    files = []
    for path in sorted((directory / "tests" / "cases").glob("*/*.py")):
        try:
            code = compile(path.read_bytes(), path.name, "exec", dont_inherit=True)
        except SyntaxError:
            continue
        files.append(folder / f"{path.parent.name}-{path.stem}.pyc")
        files[-1].write_bytes(MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    return files


def judged(build: Path, files: list[Path]) -> list[str]:
    """Returns the outputs of the gate for the files and for mutants of their trees; [] if a command exceeds
    TEST_SECONDS."""
    commands = [["depyf-decompile", "--prove"], ["depyf-tree-mutants", str(TREE_MUTANTS), "1"]]
    try:
        return [
            subprocess.run(
                [str(build / name), *options, *map(str, files)], capture_output=True, text=True, timeout=TEST_SECONDS
            ).stdout
            for name, *options in commands
        ]
    except subprocess.TimeoutExpired:
        return []
