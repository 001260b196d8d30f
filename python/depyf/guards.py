"""Guards as text for readers."""

from __future__ import annotations

import re

# Identities of objects differ in every run and tell nobody anything.
_IDENTITY = re.compile(r"(___check_(?:obj|type)_id\(.*?, )\d{6,}(?=[,)])")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_NOISE = re.compile(r"Guard latency = |TREE_GUARD_MANAGER:")


def readable(text: str) -> list[str]:
    """The lines of a guard tree as PyTorch prints it, the same in every run."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not _NOISE.match(line)]
    return [_ADDRESS.sub("0x...", _IDENTITY.sub(r"\1<id>", line)) for line in lines]


def as_comments(text: str) -> list[str]:
    """The same as Python comments."""
    return [f"#   {line}" for line in readable(text)]
