"""Compiles each top-level statement of sources as a module of its own, with the interpreter that runs this program.

    python make_seeds.py FOLDER SOURCE...

Small seeds make fast mutants. This program runs with Python 3.8 and later; sources that the interpreter cannot parse
are left out.
"""

import ast
import importlib.util
import marshal
import sys
import warnings
from pathlib import Path


def _parts(source):
    """Yields a module for each top-level statement of a source, which begins with the source's `from __future__`
    imports."""
    tree = ast.parse(source)
    future = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
    for statement in tree.body:
        if statement not in future:
            yield ast.Module(body=[*future, statement], type_ignores=[])


def main():
    """Writes the seeds and prints how many there are."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    seeds = {}
    for path in sorted(sys.argv[2:]):
        try:
            parts = list(_parts(Path(path).read_text(encoding="utf-8")))
        except SyntaxError:
            continue
        for part in parts:
            try:
                code = compile(part, "seed.py", "exec", dont_inherit=True)
            except SyntaxError:
                continue
            seeds[importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)] = None
    for number, seed in enumerate(seeds):
        (folder / ("%04d.pyc" % number)).write_bytes(seed)
    print(len(seeds))


main()
