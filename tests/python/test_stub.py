"""Tests that only the stub of the extension module documents the module's functions, and that the stub matches the
module.

stubtest cannot inspect nanobind's functions, so these tests compare the stub with the signatures that nanobind stores
as texts.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from depyf import _core

PACKAGE = Path(__file__).parent.parent.parent / "python" / "depyf"
STUB = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
DEFINITIONS = [node for node in STUB.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
FUNCTIONS = [node for node in DEFINITIONS if isinstance(node, ast.FunctionDef)]
CLASSES = [node for node in DEFINITIONS if isinstance(node, ast.ClassDef)]


def signature(definition: str) -> list[tuple[str, bool, bool]]:
    """Returns (name, is keyword-only, has a default) of each parameter of a `def`."""
    function = ast.parse(definition).body[0]
    assert isinstance(function, ast.FunctionDef)
    parameters = function.args
    positional = [*parameters.posonlyargs, *parameters.args]
    first_default = len(positional) - len(parameters.defaults)
    return [(item.arg, False, i >= first_default) for i, item in enumerate(positional)] + [
        (item.arg, True, default is not None)
        for item, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
    ]


def of_module(bound: Any) -> tuple[list[tuple[str, bool, bool]], str | None]:
    """Returns the parameters of a function of the module, and its documentation there."""
    ((text, document, _),) = bound.__nb_signature__
    return signature(re.sub(r"\\\d+", "0", text) + ": ..."), document


def test_stub_has_the_names_of_the_module() -> None:
    assert {node.name for node in DEFINITIONS} == {name for name in dir(_core) if not name.startswith("_")}
    for node in CLASSES:
        members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        names = {name for name in dir(getattr(_core, node.name)) if not name.startswith("_")}
        assert {name for name in members if not name.startswith("_")} == names


@pytest.mark.parametrize("node", FUNCTIONS, ids=lambda node: node.name)
def test_stub_has_the_parameters_of_the_module(node: ast.FunctionDef) -> None:
    parameters, document = of_module(getattr(_core, node.name))
    assert signature(ast.unparse(node)) == parameters
    assert document is None, "the stub alone documents the functions of the module"
    assert ast.get_docstring(node), "the stub documents each function"


@pytest.mark.parametrize("node", CLASSES, ids=lambda node: node.name)
def test_stub_has_the_methods_of_the_module(node: ast.ClassDef) -> None:
    bound = getattr(_core, node.name)
    assert bound.__doc__ is None, "the stub alone documents the classes of the module"
    assert ast.get_docstring(node)
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and not item.decorator_list:
            parameters, document = of_module(getattr(bound, item.name))
            assert [row[0] for row in signature(ast.unparse(item))] == [row[0] for row in parameters]
            assert document is None
