#!/usr/bin/env python3
"""Does the prover cry wolf? Sources of a standard library against what `ast.unparse` makes of them.

    stdlib.py --python PY [--other PY] [--sample N] [--command build/dev/depyf-decompile]

Both are compiled by the interpreter PY (the unparsed one by --other, where given) and proved here. Prints the share of
code objects that is proved, and those that are not. With --command the other side is what that makes of the bytecode.
"""

from __future__ import annotations

import argparse
import ast
import os
import struct
import subprocess
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from depyf import _core  # noqa: E402

warnings.simplefilter("ignore")
sys.setrecursionlimit(10000)

# Compiles sources that come on its standard input, each after its length; answers a .pyc, or nothing where it cannot.
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


class Compiler:
    def __init__(self, python: str) -> None:
        # From 3.13 on classes hold a tuple of names in the order of a set.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        self.process = subprocess.Popen(
            [python, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def __call__(self, source: bytes) -> bytes:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(struct.pack("<I", len(source)) + source)
        self.process.stdin.flush()
        (size,) = struct.unpack("<I", self.process.stdout.read(4))
        return self.process.stdout.read(size)


def unparsed(source: bytes) -> bytes:
    """`source` with other lines, columns and parentheses; as `ast.unparse` of this interpreter writes it."""
    return ast.unparse(ast.parse(source)).encode("utf-8", "surrogatepass")


def decompiled(command: str, pyc: bytes) -> bytes:
    return subprocess.run([command, "-"], input=pyc, stdout=subprocess.PIPE, timeout=60).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--other")
    parser.add_argument("--sample", type=int, default=0, help="so many files; 0: all")
    parser.add_argument("--command", help="a decompiler that reads a .pyc file from its standard input")
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    where = subprocess.run([options.python, "-c", "import os; print(os.__file__)"], capture_output=True, text=True)
    library = Path(where.stdout.strip()).parent
    files = [it for it in sorted(library.rglob("*.py")) if not {"site-packages", "lib2to3"} & set(it.parts)]
    if options.sample:
        files = files[:: max(1, len(files) // options.sample)]
    one, two = Compiler(options.python), Compiler(options.other or options.python)
    codes = proved = compared = 0
    seconds = 0.0
    failed: list[tuple[Path, object]] = []
    for path in files:
        try:
            source = path.read_bytes()
            left = one(source)
            right = two(decompiled(options.command, left) if options.command else unparsed(source))
        except (SyntaxError, ValueError, RecursionError):
            continue
        if not left or not right:
            continue
        start = time.perf_counter()
        proofs = _core.prove_pyc(left, right)
        seconds += time.perf_counter() - start
        compared += 1
        codes += len(proofs)
        # What holds something unproved is unproved too; it is shown once.
        proved += sum(map(bool, proofs))
        names = set()
        for proof in proofs:
            if not proof and repr(proof) not in names:
                names.add(repr(proof))
                failed.append((path, proof))
    print(
        f"{options.python} {options.other or ''}: {proved} of {codes} code objects proved "
        f"({100 * proved / max(codes, 1):.3f} %), {compared} files, {seconds:.1f} s"
    )
    for path, proof in failed[: options.show]:
        print("   ", path, proof)


if __name__ == "__main__":
    main()
