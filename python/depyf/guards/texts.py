"""Prepares PyTorch's texts about guards and graph breaks for readers."""

from __future__ import annotations

import json
import re

# Patterns that match the ids and addresses of objects, which differ in every run and have no meaning for readers.
_IDENTITY = re.compile(r"(___check_(?:obj|type)_id\(.*?, )\d{6,}(?=[,)])")
_ID_IN_PYTHON = re.compile(r"(\bid\(.*\) == |hooks\(\)\)\) == )(?:\d+|\([\d, ]+\))")
_ADDRESS = re.compile(r"0x(?<!\w0x)[0-9a-f]{6,}\b")
_NOISE = ("Guard latency = ", "TREE_GUARD_MANAGER:")


def tree(text: str) -> list[str]:
    """Returns the lines of the text that PyTorch prints for a guard tree, without ids and addresses, because these
    differ in every run."""
    return [
        line for line in map(str.rstrip, _without_identities(text).splitlines()) if line and not line.startswith(_NOISE)
    ]


def _without_identities(text: str) -> str:
    """Returns a text of PyTorch without ids and addresses."""
    return _ADDRESS.sub("0x...", _IDENTITY.sub(lambda match: f"{match[1]}<id>", text))


def without_ids(text: str) -> str:
    """Returns a text that contains guards as Python, without the ids of objects, because these differ in every run."""
    return _ID_IN_PYTHON.sub(r"\1<id>", text)


def break_reason(text: str) -> str:
    """Returns a graph break's report without the compiler's own traceback."""
    return text.partition("\nTraceback (most recent call last)")[0].strip()


def recompile_reasons(text: str) -> list[str]:
    """Returns PyTorch's reasons for a recompilation, one reason for each earlier compilation that rejects the call.
    PyTorch writes a single reason as text, and several reasons as JSON."""
    try:
        data = json.loads(text)
    except ValueError:
        data = text
    reasons = data if isinstance(data, list) else [data]
    return [_without_identities(str(reason).strip()) for reason in reasons if str(reason).strip()]
