#!/usr/bin/env python3
"""Checks that the prover accepts everything that compare.py calls equal.

    agreement.py [--python PY] [--sample N] [--command build/dev/depyf-decompile]

PY compiles sources of its standard library, and the output of `ast.unparse` for each source (with --command: the output
of the command for the bytecode). compare.py, run by PY, finds the largest pairs of equal code objects whose nested code
objects are equal too; this interpreter proves each pair. Prints the number of pairs, the number of code objects in
them, and the pairs that are not proved.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import stdlib  # noqa: E402

from depyf import _core  # noqa: E402

ROUNDTRIP = Path(__file__).resolve().parents[1] / "roundtrip"

# A program that reads two sources and writes pairs of .pyc files: the number of pairs, followed by the files. Each
# source and file is preceded by its length.
WORKER = """
import importlib.util, marshal, struct, sys, warnings
sys.path.insert(0, sys.argv[1])
import compare
warnings.simplefilter("ignore")
sys.setrecursionlimit(10000)

def equal_pairs(one, two):
    if all(row["equal"] and row["doc"] for row in compare.compare_trees(one, two)):
        return [(one, two)]
    found = []
    for child, other in compare.pair_children(one, two):
        found += equal_pairs(child, other) if other else []
    return found

while True:
    sources = []
    for _ in range(2):
        head = sys.stdin.buffer.read(4)
        if not head:
            sys.exit()
        sources.append(sys.stdin.buffer.read(struct.unpack("<I", head)[0]))
    compare.GRAPHS.clear()
    try:
        pairs = equal_pairs(*(compile(source, "m", "exec", dont_inherit=True) for source in sources))
    except Exception:
        pairs = []
    files = [importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code) for pair in pairs for code in pair]
    sys.stdout.buffer.write(struct.pack("<I", len(files) // 2))
    for file in files:
        sys.stdout.buffer.write(struct.pack("<I", len(file)) + file)
    sys.stdout.buffer.flush()
"""


@dataclass
class Result:
    pairs: int = 0
    codes: int = 0
    refused: list[str] = field(default_factory=list)


def attempt(python: str, sample: int, command: str) -> Result:
    result = Result()
    compare, compiler = stdlib.Worker(python, WORKER, str(ROUNDTRIP)), stdlib.Compiler(python)
    for path in stdlib.library(python, sample):
        try:
            source = path.read_bytes()
            if not (pyc := compiler(source)):
                continue
            other = stdlib.decompiled(command, pyc) if command else stdlib.unparsed(source)
        except (SyntaxError, ValueError, RecursionError, OSError):
            continue
        compare.send(source)
        compare.send(other)
        for _ in range(compare.number()):
            proofs = _core.prove_pyc(compare.receive(), compare.receive())
            result.pairs += 1
            result.codes += len(proofs)
            if not proofs[0]:
                result.refused.append(f"{path} {proofs[0]}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter that compiles the sources (default: this interpreter)"
    )
    parser.add_argument(
        "--sample", type=int, default=0, help="use only this number of files; 0: all files (default: 0)"
    )
    parser.add_argument("--command", default="", help="a decompiler that reads a .pyc file from standard input")
    options = parser.parse_args()
    result = attempt(options.python, options.sample, options.command)
    print(
        f"{options.python}: {result.pairs} pairs that compare.py calls equal, with {result.codes} code objects; "
        f"{len(result.refused)} not proved"
    )
    for text in result.refused:
        print("   ", text)


if __name__ == "__main__":
    main()
