#!/usr/bin/env python3
"""Tests that the prover refuses no equal code. Compares the sources of a standard library with the output of
`ast.unparse` for them.

    stdlib.py --python PY [--other PY] [--sample N] [--command build/dev/depyf-decompile [--check]]

The interpreter PY compiles the source and its unparsed form (--other compiles the unparsed form, if given), and this
interpreter proves the code objects equal. Prints the share of code objects that is proved, and the unproved code
objects. With --command, the output of the command for the bytecode takes the place of the unparsed form.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import os
import struct
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from depyf import _core  # noqa: E402

warnings.simplefilter("ignore")
sys.setrecursionlimit(10000)

# A program that reads sources, each preceded by its length, and writes for each source a .pyc, preceded by its length;
# the .pyc is empty if the source does not compile.
WORKER = """
import importlib.util, marshal, struct, sys, warnings
warnings.simplefilter("ignore")
sys.setrecursionlimit(10000)
while True:
    head = sys.stdin.buffer.read(4)
    if not head:
        break
    source = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
    try:
        code = compile(source, "m", "exec", dont_inherit=True)
        file = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
    except Exception:
        file = b""
    sys.stdout.buffer.write(struct.pack("<I", len(file)) + file)
    sys.stdout.buffer.flush()
"""


class Worker:
    """A Python process that reads and writes byte strings, each preceded by its length."""

    def __init__(self, python: str, program: str, *arguments: str) -> None:
        # From 3.13 on, the order of names in a class's `__static_attributes__` depends on the hash seed, so the seed is
        # fixed.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, "-c", program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def send(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()

    def number(self) -> int:
        assert self.process.stdout
        return struct.unpack("<I", self.process.stdout.read(4))[0]

    def receive(self) -> bytes:
        assert self.process.stdout
        return self.process.stdout.read(self.number())


class Compiler(Worker):
    def __init__(self, python: str) -> None:
        super().__init__(python, WORKER)

    def __call__(self, source: bytes) -> bytes:
        self.send(source)
        return self.receive()


def library(python: str, sample: int) -> list[Path]:
    """Returns about `sample` files of the standard library of `python`, at equal distances in the sorted list; all
    files if `sample` is 0."""
    where = subprocess.run([python, "-c", "import os; print(os.__file__)"], capture_output=True, text=True)
    root = Path(where.stdout.strip()).parent
    skipped = {"site-packages", "lib2to3"}
    # A distribution may link files of the library to files of the system that are not installed.
    files = [it for it in sorted(root.rglob("*.py")) if it.is_file() and not skipped & set(it.parts)]
    return files[:: max(1, len(files) // sample)] if sample else files


def unparsed(source: bytes) -> bytes:
    """Returns `source` with other lines, columns and parentheses, as `ast.unparse` of this interpreter writes it."""
    return ast.unparse(ast.parse(source)).encode("utf-8", "surrogatepass")


def decompiled(command: str, pyc: bytes, check: str = "") -> bytes:
    options = ["--check", check] if check else []
    return subprocess.run([command, *options, "-"], input=pyc, stdout=subprocess.PIPE, timeout=60).stdout


def is_marked(text: bytes, qualname: str) -> bool:
    """True if the decompiled `text` marks the code object `qualname`, or a code object that contains it, with `# depyf:
    not ...`."""
    lines = text.decode("utf-8", "surrogatepass").splitlines()
    wanted = [name for name in qualname.split(".") if name != "<locals>"]
    found = False

    def visit(node: ast.AST, inside: bool) -> None:
        nonlocal found
        for child in ast.iter_child_nodes(node):
            marked = inside
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                head = lines[child.lineno - 1 : child.body[0].lineno]
                marked = inside or any(line.strip().startswith("# depyf: not ") for line in head)
                found = found or (marked and child.name in wanted)
            visit(child, marked)

    try:
        tree = ast.parse(text)
    # A newer grammar than that of this interpreter: the mark is searched for in the line behind a definition of the
    # name.
    except SyntaxError:
        return any(
            line.split("(")[0].split("[")[0].split(":")[0].split()[-1:] == [wanted[-1]] and "# depyf: not " in after
            for line, after in itertools.pairwise(lines)
        )
    head = lines[: tree.body[0].lineno if tree.body else len(lines)]
    visit(tree, any(line.startswith("# depyf: not ") for line in head))
    return found or any(line.startswith("# depyf: not ") for line in head)


@dataclass
class Result:
    files: int = 0
    codes: int = 0
    proved: int = 0
    seconds: float = 0
    failed: list[str] = field(default_factory=list)
    unmarked: list[str] = field(default_factory=list)


def attempt(python: str, other: str = "", sample: int = 0, command: str = "", check: bool = False) -> Result:
    result = Result()
    one, two = Compiler(python), Compiler(other or python)
    for path in library(python, sample):
        try:
            source = path.read_bytes()
            left = one(source)
            text = decompiled(command, left, python if check else "") if command and left else unparsed(source)
            right = two(text)
        except (SyntaxError, ValueError, RecursionError, OSError):
            continue
        if not left or not right:
            continue
        start = time.perf_counter()
        proofs = _core.prove_pyc(left, right)
        result.seconds += time.perf_counter() - start
        result.files += 1
        result.codes += len(proofs)
        # A code object that contains an unproved code object is unproved too; equal reasons are listed once per file.
        result.proved += sum(map(bool, proofs))
        for words, proof in {repr(proof): proof for proof in proofs if not proof}.items():
            result.failed.append(f"{path} {words}")
            if check and proof.where and not is_marked(text, proof.where.function):
                result.unmarked.append(f"{path} {words}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter that compiles the sources (default: this interpreter)"
    )
    parser.add_argument(
        "--other",
        default="",
        help="the interpreter that compiles the unparsed sources (default: the interpreter of --python)",
    )
    parser.add_argument(
        "--sample", type=int, default=0, help="use only this number of files; 0: all files (default: 0)"
    )
    parser.add_argument("--command", default="", help="a decompiler that reads a .pyc file from standard input")
    parser.add_argument(
        "--check",
        action="store_true",
        help="with --command: count the code that is not proved, but that the decompiler does not mark",
    )
    parser.add_argument(
        "--show", type=int, default=20, help="print this number of code objects that are not proved (default: 20)"
    )
    options = parser.parse_args()
    result = attempt(options.python, options.other, options.sample, options.command, options.check)
    print(
        f"{options.python} {options.other}: {result.proved} of {result.codes} code objects proved "
        f"({100 * result.proved / max(result.codes, 1):.3f} %), {result.files} files, {result.seconds:.1f} s"
    )
    for text in result.failed[: options.show]:
        print("   ", text)
    if options.check:
        print(f"{len(result.unmarked)} of {len(result.failed)} places that are not proved have no mark")
        for text in result.unmarked:
            print("   ", text)


if __name__ == "__main__":
    main()
