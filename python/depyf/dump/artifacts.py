"""Writes the files of single artifacts: graphs as Python, kernels, IR, and transformed code."""

from __future__ import annotations

import functools
import re

from depyf import _core, names
from depyf.decompilation import PROVED
from depyf.dump.comments import remark
from depyf.dump.stages import KINDS
from depyf.session import Frame

IMPORTS = """\
from __future__ import annotations

import torch
from torch import device, inf, nan
"""
_PYTREES = """\
import torch.fx._pytree as fx_pytree
import torch.utils._pytree as pytree
"""
_CLASS = re.compile(r"^class (?:<lambda>|\w+)\(torch\.nn\.Module\):", re.MULTILINE)
_INNER_CLASS = re.compile(r"^( *class )<lambda>\(", re.MULTILINE)
_GRAPH_ID = re.compile(r"^\s*# graph id: \d+\s*$", re.MULTILINE)


def artifact_text(
    kind: str,
    text: str,
    direction: str | None,
    frame: Frame | None,
    runs: str | None = None,
    *,
    is_python: bool = False,
) -> str:
    """Returns the text of the file of a graph, kernel or IR.

    Args:
        runs: the result of `runs_text`; None for artifacts that never run.
        is_python: true if the text of a kernel is known to be Python.
    """
    about = KINDS.get(kind, f'a graph that was shown under the name "{kind}"')
    head = [remark(f"{about[0].upper()}{about[1:]}."), remark(_belongs(frame, direction))]
    head += [remark(runs)] if runs is not None else []
    if kind.startswith("ir_"):
        return "\n".join([*head, "", names.shorten(text).rstrip(), ""])
    if kind == "kernel":
        return "\n".join([*head, "", _kernel(text, is_python), ""])
    imports = IMPORTS + (_PYTREES if "pytree" in text else "")
    return "\n".join([*head, imports, "", graph_class(text), ""])


def runs_text(kind: str, reason: str) -> str:
    """Returns a line that states whether a graph or kernel runs from its file. `reason` states why the graph or kernel
    does not run from the file; it is empty if the graph or kernel runs from the file."""
    if reason:
        return f"Does not run from this file: {' '.join(reason.split())}."
    if kind == "kernel":
        return "Runs from this file: proved equivalent to Inductor's own."
    return "Runs from this file where the backend runs this graph as it is: proved equivalent to PyTorch's own."


# `graph_class` is called twice for the file of a graph, and the cache serves the second call. The text of the graph's
# file is computed once to find out whether the file can run, and once more with a line that states whether it can run.
@functools.lru_cache(maxsize=8)
def graph_class(text: str, name: str = "GraphModule") -> str:
    """Returns the class that PyTorch prints for a graph, under a name that Python accepts, and without the names and
    numbers that differ in every run."""
    text = names.shorten(text)
    if "# graph id: " in text:
        text = _GRAPH_ID.sub("", text)
    text = text.strip()
    text = _CLASS.sub(f"class {name}(torch.nn.Module):", text, count=1)
    if "class <lambda>(" in text:
        text = _INNER_CLASS.sub(r"\1GraphModule(", text)
    return _or_comments(text)


def transformed_text(frame: Frame, source: str, runs: str) -> str:
    """Returns the text of the file of transformed code. The first line of `source`, which states the result of the
    proof, is extended by `runs`."""
    head = [
        remark(f"The code that runs in place of {frame.title} where the guards of this compilation hold."),
        remark(_belongs(frame, None)),
    ]
    proof, _, rest = source.partition("\n")
    if proof == PROVED:
        proof += " that Dynamo made"
    proof += f"; {runs}"
    return "\n".join([*head, proof, "", rest.strip("\n"), ""])


def _belongs(frame: Frame | None, direction: str | None) -> str:
    parts = []
    if frame is None:
        parts.append("No compilation was in progress when the file was written")
    else:
        number = "" if frame.compiled_fn is None else f"__compiled_fn_{frame.compiled_fn}, "
        parts.append(f"Belongs to {number}compilation {frame.compile_id} of {frame.title}")
    if direction:
        parts.append(f"direction: {direction}")
    return "; ".join(parts) + "."


def _or_comments(text: str) -> str:
    """Returns the text if it is valid Python; otherwise returns the text as comments, with the reason why it is not
    valid."""
    shortened = _core.shortened_graph(text)
    if (_short_compiles if len(shortened) <= _CACHED_CHARACTERS else compiles)(shortened):
        return text
    try:  # Compiling the whole text reports the error with its line.
        compile(text, "<dump>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return "\n".join([remark(f"PyTorch's own text, which is not Python: {error}"), *map(remark, text.splitlines())])
    return text


_CACHED_CHARACTERS = 500  # `_core.shortened_graph` shortens most graphs to one of a few texts.


def compiles(text: str) -> bool:
    """True if Python compiles the text."""
    try:
        compile(text, "<dump>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


@functools.lru_cache(maxsize=64)
def _short_compiles(text: str) -> bool:
    """Does the same as `compiles` for short texts, and caches the results."""
    return compiles(text)


@functools.lru_cache(maxsize=8)
def _kernel(text: str, is_python: bool) -> str:
    text = names.shorten(text).rstrip()
    return text if is_python else _or_comments(text)
