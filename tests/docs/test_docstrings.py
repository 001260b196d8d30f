"""Runs each example in the docstrings of the public names, which the reference shows."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest
from page_shell import ROOT

import depyf

PROGRAM = """\
import depyf
import torch


def function(x):
    return torch.sin(x) + 1


fn = compiled = torch.compile(function, backend="aot_eager")
x = torch.ones(3, requires_grad=True)


def example():
"""
"""The code that the examples assume: a compiled function, and the arguments of its calls."""

DRIVER = """\
import contextlib, importlib, io, json, os, sys, traceback

folder = os.getcwd()
sys.path.insert(0, folder)
printed = {}
for name, typed in json.load(sys.stdin).items():
    os.chdir(os.path.join(folder, name))
    sys.stdin = io.StringIO(typed)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            importlib.import_module(f"example_{name}").example()
        except Exception:
            traceback.print_exc(file=out)
    printed[name] = out.getvalue()
print(json.dumps(printed))
"""

TYPED = {"debug": "c\n", "step": "stack\nq\n"}
"""The lines that are typed at the prompts of an example, by its name."""

AFTERWARDS = {"compile_like": "print(function.__code__.co_filename)"}
"""Code that runs after an example, so that the example's effect is printed."""

PRINTED = {
    "cache_entries": "__compiled_fn_",
    "compile_costs": "Compiling took",
    "compile_like": "<depyf function>",
    "debug": "__transformed_code_0_for_function.py",
    "decompile": "return torch.sin(x) + 1",
    "dispatch": "would run the ordinary entry",
    "explain": "guard_0",
    "guard_costs": "Guards of function",
    "load_entry": "tensor([1.8415",
    "memory_costs": "backward",
    "numerics": "function",
    "profile": "Compiled functions ran for",
    "prove": "proved",
    "step": "(depyf)",
}
"""A text that the output of an example must contain, by its name."""

WRITTEN = {"edit": "entry.py", "prepare_debug": "dump/index.md"}
"""The file that an example writes, by its name, for examples that print nothing."""

_INDENTED_CODE = re.compile(r"(?:^\n)((?:^ {4,}.*\n|^\n(?= {4}))+)", re.MULTILINE)
_SECTION = re.compile(r"^(?:Args|Returns|Raises|Yields|Attributes|Note|Warning):$", re.MULTILINE)


def documented() -> dict[str, str]:
    """Returns the docstrings that the reference shows, by the name behind `depyf.`."""
    docstrings = {}
    for name in depyf.__all__:
        value = getattr(depyf, name)
        docstrings[name] = inspect.getdoc(value) or ""
        if inspect.isclass(value):
            for member, function in vars(value).items():
                if not member.startswith("_") and isinstance(function, (types.FunctionType, classmethod, property)):
                    docstrings[f"{name}.{member}"] = inspect.getdoc(function) or ""
    return docstrings


def example_in(docstring: str) -> str:
    """Returns the code in a docstring: its indented lines before the first section such as `Args:`, and those in the last
    section if the section is called `Example:`."""
    text = _SECTION.split(docstring)[0] + "\n\n" + docstring.partition("\nExample:\n")[2] + "\n"
    return "\n".join(textwrap.dedent(code) for code in _INDENTED_CODE.findall(text))


EXAMPLES = {name: code for name, docstring in documented().items() if (code := example_in(docstring))}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Runs all examples, each as a module of its own. Returns (the folder, the output of each example by its name)."""
    folder = tmp_path_factory.mktemp("examples")
    for name, code in EXAMPLES.items():
        (folder / name).mkdir()
        body = f"{code}\n{AFTERWARDS.get(name, '')}\n"
        (folder / f"example_{name}.py").write_text(PROGRAM + textwrap.indent(body, "    "))
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        input=json.dumps({name: TYPED.get(name, "") for name in EXAMPLES}),
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, json.loads(done.stdout.splitlines()[-1])


def test_each_example_is_run_and_has_an_effect_that_is_looked_at() -> None:
    assert not [name for name, docstring in documented().items() if ">>>" in docstring or "```" in docstring]
    assert set(EXAMPLES) == {*PRINTED, *WRITTEN}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_a_docstring_runs(name: str, run: tuple[Path, dict[str, str]]) -> None:
    folder, printed = run
    assert "Traceback" not in printed[name], printed[name]
    assert PRINTED.get(name, "") in printed[name], printed[name]
    assert name not in WRITTEN or (folder / name / WRITTEN[name]).is_file()
