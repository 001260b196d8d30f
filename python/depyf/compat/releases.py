"""Releases of PyTorch, which decide which private names are expected."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

NEWEST_TESTED = "2.15"


@dataclass(frozen=True, order=True)
class Release:
    """A release of PyTorch: the first two numbers of its version."""

    major: int
    minor: int

    @classmethod
    @functools.cache
    def of(cls, version: str) -> Release:
        """Returns the release of a version, such as (2, 13) for "2.13.0+cpu". A version without numbers counts as newer
        than all others."""
        match = re.match(r"(\d+)\.(\d+)", version)
        return cls(int(match[1]), int(match[2])) if match else cls(999, 0)


def installed() -> str | None:
    """Returns the version of the installed PyTorch; None if PyTorch is not installed."""
    try:
        import torch
    except ImportError:
        return None
    version = getattr(torch, "__version__", None)  # A folder named torch on the path has no version.
    return None if version is None else str(version)
