"""What PyTorch or a program's names say, as comments."""

from __future__ import annotations

from depyf import names


def remark(text: str) -> str:
    """One line, whatever the text."""
    return f"# {names.one_line(text)}".rstrip()


def first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else ""
