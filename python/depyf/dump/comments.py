"""Puts texts of PyTorch and of the program's names into single lines, whatever they contain."""

from __future__ import annotations

from depyf import names


def remark(text: str) -> str:
    """Returns a comment of one line."""
    return f"# {names.one_line(text)}".rstrip()
