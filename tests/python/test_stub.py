"""The stub of the extension module names what the module has. (stubtest cannot look into nanobind's functions.)"""

from __future__ import annotations

import ast
from pathlib import Path

from depyf import _core


def test_stub_has_the_names_of_the_module() -> None:
    package = Path(__file__).parent.parent.parent / "python" / "depyf"
    tree = ast.parse((package / "_core.pyi").read_text(encoding="utf-8"))
    definitions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    assert {node.name for node in definitions} == {name for name in dir(_core) if not name.startswith("_")}
    for node in definitions:
        if isinstance(node, ast.ClassDef):
            members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            found = {name for name in dir(getattr(_core, node.name)) if not name.startswith("_")}
            assert {name for name in members if not name.startswith("_")} == found
