"""Run by CPython 3.10: compiles the sources in one folder, and writes the function of each beside the source as .pyc."""

from __future__ import annotations

import ast
import importlib.util
import marshal
import sys
import types
import warnings
from pathlib import Path


def function_in(code: types.CodeType) -> types.CodeType:
    """The function that a source of one function defines; `__outer` only binds its free variables."""
    (inner,) = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return function_in(inner) if inner.co_name == "__outer" else inner


def main(originals: Path, sources: Path, names_file: Path) -> None:
    spec = importlib.util.spec_from_file_location("names", names_file)
    assert spec and spec.loader
    names = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(names)
    warnings.simplefilter("ignore")  # calls of opaque constants
    for path in sorted(sources.rglob("*.py")):
        relative = path.relative_to(sources).with_suffix(".pyc")
        header_and_code = (originals / relative).read_bytes()
        tree = names.restore_attributes(ast.parse(path.read_bytes()), marshal.loads(header_and_code[16:]))
        code = function_in(compile(tree, path.name, "exec", dont_inherit=True))
        path.with_suffix(".pyc").write_bytes(header_and_code[:16] + marshal.dumps(code))


main(*map(Path, sys.argv[1:]))
