#!/usr/bin/env python3
"""Measure whether `depyf-decompile --align lines` puts each statement on the line that it had in the source.

    python3.12 aligned.py [--sample 150] [--show 40] [FILE OR FOLDER...]

Runs in the interpreter whose bytecode is decompiled; without files, on its standard library. Each file is compiled and decompiled,
and the statements of both sources are matched, list by list. Prints how many are on their line, and for those that are not, why:
the bytecode has no line of them, or what stands before them takes more lines than it did.
"""

import argparse
import ast
import collections
import difflib
import importlib.util
import marshal
import random
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BODIES = ("body", "handlers", "orelse", "finalbody", "cases")
SKIPPED = {"test", "tests", "idle_test", "lib2to3", "site-packages", "__pycache__", "dist-packages"}


def header(node):
    """Return the text of a statement without the statements in it."""
    if not any(getattr(node, field, None) for field in BODIES):
        return type(node).__name__ + ast.unparse(node)
    parts = [type(node).__name__]
    for field, value in ast.iter_fields(node):
        if field not in BODIES:
            values = value if isinstance(value, list) else [value]
            parts += [ast.unparse(each) if isinstance(each, ast.AST) else repr(each) for each in values]
    return " ".join(parts)


def pairs_of(originals, printed):
    """Match two lists of statements: first statements with the same text; then, between matches, runs of statements of
    the same types. Return the index of the match by the index of the original."""
    matched = {}
    texts = [[header(node) for node in nodes] for nodes in (originals, printed)]
    blocks = difflib.SequenceMatcher(None, *texts, autojunk=False).get_matching_blocks()
    at = at_printed = 0
    for first, first_printed, size in blocks:
        gap, gap_printed = list(range(at, first)), list(range(at_printed, first_printed))
        kinds = [[type(originals[i]) for i in gap], [type(printed[i]) for i in gap_printed]]
        for start, start_printed, length in difflib.SequenceMatcher(None, *kinds, autojunk=False).get_matching_blocks():
            for i in range(length):
                matched[gap[start + i]] = gap_printed[start_printed + i]
        for i in range(size):
            matched[first + i] = first_printed + i
        at, at_printed = first + size, first_printed + size
    return matched


def is_docstring(node, parent, position):
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    definitions = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return text and position == 0 and isinstance(parent, definitions)


def without_instructions(node, parent):
    """Return the reason why the compiler generates no instruction with the line of a statement; "" if it generates
    one."""
    in_function = isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return "a constant"
    if isinstance(node, ast.Global | ast.Nonlocal):
        return "global or nonlocal"
    if isinstance(node, ast.Pass):
        return "pass"
    if isinstance(node, ast.AnnAssign) and node.value is None and (in_function or not node.simple):
        return "an annotation that is not kept"
    return ""


class Counts:
    def __init__(self):
        self.kinds = collections.Counter()
        self.examples = collections.defaultdict(list)

    def add(self, kind, path, node, printed_line):
        self.kinds[kind] += 1
        self.examples[kind].append(f"{path}:{node.lineno}, printed at {printed_line}: {type(node).__name__}")

    def compare(self, path, parent, printed_parent, function):
        for field in BODIES:
            originals, printed = getattr(parent, field, None) or [], getattr(printed_parent, field, None) or []
            if not isinstance(originals, list):
                continue  # the body of a lambda or of a conditional expression is one expression
            matched = pairs_of(originals, printed)
            for position, node in enumerate(originals):
                counterpart = printed[matched[position]] if position in matched else None
                inner = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else function
                if isinstance(node, ast.stmt):
                    self.statement(path, node, counterpart, parent, position, function)
                self.compare(path, node, counterpart, inner)

    def statement(self, path, node, counterpart, parent, position, function):
        if counterpart is None:
            kind = without_instructions(node, function) or "printed in another form"
            return self.add("not compared: " + kind, path, node, "-")
        if counterpart.lineno == node.lineno:
            self.kinds["on its line"] += 1
            return None
        if is_docstring(node, parent, position) and not isinstance(parent, ast.Module | ast.ClassDef):
            kind = "the docstring of a function, whose line the bytecode does not have"
        elif kind := without_instructions(node, function):
            kind += ", whose line the bytecode does not have"
        elif counterpart.lineno > node.lineno:
            kind = "late: what is before it takes more lines"
        else:
            kind = "early: the bytecode has another line"
        return self.add("elsewhere: " + kind, path, node, counterpart.lineno)


def files_of(paths):
    if not paths:
        root = Path(sysconfig.get_paths()["stdlib"])
        return sorted(file for file in root.rglob("*.py") if not SKIPPED & set(file.relative_to(root).parts))
    files = []
    for path in map(Path, paths):
        files += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="files and folders (default: the standard library)")
    parser.add_argument(
        "--command",
        default=str(ROOT / "build/dev/depyf-decompile"),
        help="the path of depyf-decompile (default: that of the dev build)",
    )
    parser.add_argument("--sample", type=int, default=0, help="draw this number of files; 0: all files (default: 0)")
    parser.add_argument("--seed", type=int, default=0, help="the seed that draws the files and examples (default: 0)")
    parser.add_argument("--show", type=int, default=0, help="print this number of examples of each kind (default: 0)")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20000)
    files = files_of(args.paths)
    if args.sample and args.sample < len(files):
        files = sorted(random.Random(args.seed).sample(files, args.sample))
    counts, compared = Counts(), 0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            try:
                source = file.read_bytes()
                tree, code = ast.parse(source), compile(source, file.name, "exec", dont_inherit=True, optimize=0)
            except (SyntaxError, ValueError):
                continue
            pyc = Path(folder) / "module.pyc"
            pyc.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
            answer = subprocess.run(
                [args.command, "-q", "--align", "lines", str(pyc)], capture_output=True, check=False
            )
            try:
                printed = ast.parse(answer.stdout)
            except SyntaxError as error:
                print(f"{file}: does not compile: {error}")
                return 1
            counts.compare(str(file), tree, printed, None)
            compared += 1
    right = counts.kinds["on its line"]
    wrong = sum(count for kind, count in counts.kinds.items() if kind.startswith("elsewhere"))
    print(
        f"{compared} files: {right} of {right + wrong} statements ({100 * right / max(right + wrong, 1):.2f} %) on their line"
    )
    for kind, count in sorted(counts.kinds.items(), key=lambda item: -item[1]):
        print(f"{count:8}  {kind}")
        examples = counts.examples[kind]
        for example in random.Random(args.seed).sample(examples, min(args.show, len(examples))):
            print(f"            {example}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
