"""Single lines of what PyTorch or a program's names say, whatever that is."""

from __future__ import annotations

from depyf import names


def remark(text: str) -> str:
    """A comment of one line."""
    return f"# {names.one_line(text)}".rstrip()


def first_line(text: str) -> str:
    """The first that is not blank; "" if there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else ""
