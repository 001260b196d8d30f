"""Makes comments of one line from texts of PyTorch and from names of the program, even if they contain line breaks."""

from __future__ import annotations

from depyf import names


def remark(text: str) -> str:
    """Returns a text as a comment of one line."""
    return f"# {names.one_line(text)}".rstrip()
