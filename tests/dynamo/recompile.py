"""Compiles the sources in a folder with CPython 3.10, which runs this file, and writes the function of each source into
a .pyc beside it."""

from __future__ import annotations

import ast
import importlib.util
import marshal
import sys
import types
import warnings
from pathlib import Path


def function_in(code: types.CodeType) -> types.CodeType:
    """Returns the function that a source defines; a function `__outer` around it only binds its free variables."""
    (inner,) = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return function_in(inner) if inner.co_name == "__outer" else inner


def loaded(file: Path) -> types.ModuleType:
    """Loads a module of depyf that imports no other module of depyf, without the package, because this interpreter has
    no extension module."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(originals: Path, sources: Path, package: Path) -> None:
    names, tree_names = loaded(package / "names.py"), loaded(package / "tree_names.py")
    warnings.simplefilter("ignore")  # calls of constants cause warnings
    for path in sorted(sources.rglob("*.py")):
        relative = path.relative_to(sources).with_suffix(".pyc")
        header_and_code = (originals / relative).read_bytes()
        codes = names.nested_codes(marshal.loads(header_and_code[16:]))
        tree = tree_names.restore_attributes(ast.parse(path.read_bytes()), codes)
        code = function_in(compile(tree, path.name, "exec", dont_inherit=True))
        path.with_suffix(".pyc").write_bytes(header_and_code[:16] + marshal.dumps(code))


main(*map(Path, sys.argv[1:]))
