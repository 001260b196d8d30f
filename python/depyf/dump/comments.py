"""Single lines of what PyTorch or a program's names say, whatever that is."""

from __future__ import annotations

from depyf import names


def remark(text: str) -> str:
    """A comment of one line."""
    return f"# {names.one_line(text)}".rstrip()
