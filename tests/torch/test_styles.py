"""Tests of Dynamo's code in the readable and the exact style."""

from __future__ import annotations

import ast
import re

import pytest

import depyf
import torch
from depyf import decompilation
from torch_helpers import BACKENDS, bytecode_hook, example

LISTS = re.compile(r"\.(extend|append)\(|\[0:0\]|__temp|\btmp_", re.MULTILINE)


@pytest.fixture(scope="module", params=BACKENDS)
def toy(request):
    """Returns (transformed code, readable decompilation, exact decompilation) of each frame of the toy example,
    decompiled in Dynamo's hook."""
    torch._dynamo.reset()
    found = []
    with bytecode_hook(
        lambda old, new: found.append((new, decompilation.decompile(new), decompilation.decompile(new, style="exact")))
    ):
        example("toy").main(request.param)
    assert len(found) == 3
    return found


def test_the_top_frame_reads_as_a_person_would_write_it(toy):
    code, readable, _ = toy[0]
    assert readable.proved and readable.style == "readable"
    lines = readable.source.rstrip().splitlines()[1:]
    assert len(lines) <= 12 < 100 < len(code.co_code)
    assert not LISTS.search(readable.source)
    measured = [line for line in lines if "record_pregraph_bytecode" in line]
    assert len(measured) <= 2 and all(line.endswith("  # profiling") for line in measured)
    assert sum(line.endswith("# profiling") for line in lines) == len(measured)
    text = "\n".join(line for line in lines if line not in measured)
    # Values have the names of the graph's outputs, or of the parameters to which they are passed.
    assert re.search(
        r"    lt, x = __compiled_fn_\d+\(a, b\)\n    if lt:\n        del lt\n        return __resume_at_\d+_\d+\(.*, b, x\)\n"
        r"    del lt\n    return __resume_at_\d+_\d+\(.*, b, x\)$",
        text,
    ), text


def test_resume_functions_are_one_expression(toy):
    for _, readable, _ in toy[1:]:
        assert readable.proved and readable.style == "readable"
        assert re.search(r"\n    return __compiled_fn_\d+\(\w, \w\)\[0\]\n", readable.source), readable.source
        assert not LISTS.search(readable.source)


def test_the_source_runs_as_it_stands(toy):
    for code, readable, exact in toy:
        for result in (readable, exact):
            back = depyf.compile_like(result.source, code)
            # The graphs may have been freed, so the proof gets the assumptions about them on which the source relies.
            proof = depyf.prove(code, back, lifetimes=result is not exact, assumptions=result.assumptions)
            assert proof
            graphs = {name for name in code.co_names if name.startswith("__compiled_fn_")}
            assert (
                graphs
                and graphs <= set(back.co_names)
                and not any(name in result.source for name in graphs if "-" in name)
            )


def test_exact_has_each_effect_in_a_statement_of_its_own(toy):
    for _, _, exact in toy:
        assert exact.proved and exact.style == "exact"
        for node in ast.walk(ast.parse(exact.source)):
            if isinstance(node, (ast.Assign, ast.Return)):
                effects = [
                    each for each in ast.walk(node) if isinstance(each, (ast.Call, ast.Attribute, ast.Subscript))
                ]
                assert len(effects) <= 1, ast.unparse(node)
