"""Tries the features that need no PyTorch."""

from __future__ import annotations

import types

import depyf


def _sample(items: list[int], limit: int = 3) -> dict[str, int]:
    results = {}
    for position, item in enumerate(items):
        if item > limit and not position % 2:
            continue
        try:
            results[str(item)] = limit // item
        except ZeroDivisionError as error:
            results[str(error)] = 0
    return results


def run() -> dict[str, list[str]]:
    """Maps the key of each feature that does not work to a list of its problems."""
    problems: dict[str, list[str]] = {}
    code = _sample.__code__
    try:
        recompiled = types.FunctionType(depyf.compile_like(depyf.decompile(_sample), code), globals(), "_sample", (3,))
        if recompiled([0, 5, 2, 4]) != _sample([0, 5, 2, 4]):
            problems["decompile"] = ["what was decompiled and compiled back gives other results"]
        proof = depyf.prove(code, recompiled.__code__)
        if not proof:
            problems["decompile"] = [f"what was decompiled and compiled back is not proved: {proof.reason}"]
    except Exception as error:
        problems["decompile"] = [f"{type(error).__name__}: {error}"]
    return problems
