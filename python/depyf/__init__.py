"""depyf shows the code that torch.compile generates for a program as Python that reads like the user's own.

This module defines the public names of depyf. The functions that decompile or prove code work without torch; all other
public names import torch when they are first used.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

from depyf._platform import require_supported

require_supported()  # must run before the first import that loads the extension module

from depyf.decompiler import DecompilationError, Decompiler, decompile
from depyf.proof import Proof, prove
from depyf.recompile import compile_like

if TYPE_CHECKING:
    from depyf.capture import prepare_debug
    from depyf.costs import compile_costs, guard_costs, memory_costs, profile
    from depyf.debugging import debug
    from depyf.explanation import explain
    from depyf.logs import install, uninstall
    from depyf.numerical import NumericsReport, numerics
    from depyf.session import Session
    from depyf.stepper import step
    from depyf.toolkit import cache_entries, dispatch, edit, load_entry, new_entry, registered
    from depyf.whereabouts import here

__all__ = [
    "DecompilationError",
    "Decompiler",
    "NumericsReport",
    "Proof",
    "Session",
    "__version__",
    "cache_entries",
    "compile_costs",
    "compile_like",
    "debug",
    "decompile",
    "dispatch",
    "edit",
    "explain",
    "guard_costs",
    "here",
    "install",
    "load_entry",
    "memory_costs",
    "new_entry",
    "numerics",
    "prepare_debug",
    "profile",
    "prove",
    "registered",
    "step",
    "uninstall",
]

try:
    __version__ = metadata.version("depyf")
except metadata.PackageNotFoundError:  # The source tree is on the path, and the package is not installed.
    __version__ = "0+unknown"

_LAZY = {
    "NumericsReport": "depyf.numerical",
    "Session": "depyf.session",
    "cache_entries": "depyf.toolkit",
    "dispatch": "depyf.toolkit",
    "edit": "depyf.toolkit",
    "explain": "depyf.explanation",
    "compile_costs": "depyf.costs",
    "guard_costs": "depyf.costs",
    "memory_costs": "depyf.costs",
    "debug": "depyf.debugging",
    "here": "depyf.whereabouts",
    "install": "depyf.logs",
    "load_entry": "depyf.toolkit",
    "load_ipython_extension": "depyf.notebook",
    "new_entry": "depyf.toolkit",
    "numerics": "depyf.numerical",
    "prepare_debug": "depyf.capture",
    "profile": "depyf.costs",
    "registered": "depyf.toolkit",
    "step": "depyf.stepper",
    "uninstall": "depyf.logs",
    "unload_ipython_extension": "depyf.notebook",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
