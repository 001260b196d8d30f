"""The versions that `depyf --version` and the report of `depyf doctor` state."""

from __future__ import annotations

import platform
from importlib import metadata

import depyf
from depyf import _core

__all__ = ["line", "of_package"]


def of_package(name: str) -> str | None:
    """Returns the version of an installed package; None if it is not installed. The package is not imported."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def line(torch_version: str | None) -> str:
    """Returns the versions of depyf, its core, Python and PyTorch, on one line.

    Args:
        torch_version: the version of PyTorch; None if PyTorch is not installed.
    """
    torch = f"PyTorch {torch_version}" if torch_version else "no PyTorch"
    return f"depyf {depyf.__version__}, core {_core.__version__}, Python {platform.python_version()}, {torch}"
