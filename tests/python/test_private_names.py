"""Tests that private names of PyTorch are used only in depyf.compat."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import depyf

PACKAGE = Path(depyf.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
# Parts of texts for users that name functions and settings which users may call or set.
ALLOWED_TEXT = (
    "torch._dynamo.reset()",
    "torch._dynamo.config.",  # settings that a text names for the user; code asks for "torch._dynamo.config:NAME"
    "torch._inductor.config.force_disable_caches",
    "torch._inductor.config.max_fusion_size",
)


def private_names(path):
    """Returns the private names of PyTorch that a module imports, looks up or mentions as text."""
    found = []
    tree = ast.parse(path.read_text())
    documentation = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith("torch.")]
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").split(".")[0] == "torch":
                found.append(node.module)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch":
            found += [node.attr] if node.attr.startswith("_") and not node.attr.startswith("__") else []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documentation:
            text = node.value
            for allowed in ALLOWED_TEXT:
                text = text.replace(allowed, "")
            if "torch._" in text or "_torchdynamo" in text:
                found.append(node.value)
    return found


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(PACKAGE)) for path in MODULES])
def test_private_names_are_in_compat_only(path):
    found = private_names(path)
    if path.parent.name != "compat":
        assert found == []


def test_the_check_sees_them():
    seen = [name for path in MODULES if path.parent.name == "compat" for name in private_names(path)]
    assert {
        "torch._guards:CompileContext",
        "torch._dynamo.guards:_get_closure_vars",
        "_torchdynamo_orig_callable",
    } <= set(seen)
