"""What needs no PyTorch, tried."""

from __future__ import annotations

import types

import depyf


def _sample(items: list[int], limit: int = 3) -> dict[str, int]:
    found = {}
    for at, item in enumerate(items):
        if item > limit and not at % 2:
            continue
        try:
            found[str(item)] = limit // item
        except ZeroDivisionError as error:
            found[str(error)] = 0
    return found


def run() -> dict[str, list[str]]:
    """Key of a feature -> what is wrong with it."""
    out: dict[str, list[str]] = {}
    code = _sample.__code__
    try:
        made = types.FunctionType(depyf.compile_like(depyf.decompile(_sample), code), globals(), "_sample", (3,))
        if made([0, 5, 2, 4]) != _sample([0, 5, 2, 4]):
            out["decompile"] = ["what was decompiled and compiled back gives other results"]
        proof = depyf.prove(code, made.__code__)
        if not proof:
            out["decompile"] = [f"what was decompiled and compiled back is not proved: {proof.reason}"]
    except Exception as error:
        out["decompile"] = [f"{type(error).__name__}: {error}"]
    return out
