"""Captures a process that the environment variable DEPYF_DIR asks for, as soon as it imports `torch._dynamo`.

Python loads this package at its start, so it is a package of its own: it imports only what Python has loaded by then,
and it imports depyf only in a process that can compile.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

__all__ = ["stop", "watch"]

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class _Finder:
    """Finds `torch._dynamo` as Python would, and has depyf begin when that module has been executed."""

    def __init__(self, rank_of_starter: str) -> None:
        self._rank_of_starter = rank_of_starter

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch._dynamo" or self not in sys.meta_path:
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "__dict__"):
            return spec
        loader = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # It is an attribute of the instance, so the loader is as it was.
            execute(module)
            _begin(module, self._rank_of_starter)

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def watch() -> None:
    """Watches for the import of `torch._dynamo` if DEPYF_DIR names a directory. A second call does nothing."""
    directory = os.environ.get("DEPYF_DIR")
    if not directory or any(type(finder) is _Finder for finder in sys.meta_path):
        return
    # Processes that this one starts may have another working directory.
    os.environ["DEPYF_DIR"] = os.path.abspath(directory)
    # The first process writes to the directory itself, and those that it starts write to folders there.
    os.environ.setdefault("DEPYF_PROCESS", str(os.getpid()))
    rank_of_starter = os.environ.get("DEPYF_RANK", "")
    os.environ["DEPYF_RANK"] = os.environ.get("RANK", "")
    sys.meta_path.insert(0, _Finder(rank_of_starter))


def stop() -> None:
    """Undoes `watch` in this process, unless `torch._dynamo` has been imported since."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder) is not _Finder]


def _begin(module: ModuleType, rank_of_starter: str) -> None:
    """Begins a block for the rest of the process. A failure is printed, and the program goes on."""
    # Python sets this attribute only when the import is over, and depyf reads it now.
    sys.modules["torch"]._dynamo = module  # type: ignore[attr-defined]
    is_missing = _ROOT not in sys.path
    if is_missing:
        sys.path.append(_ROOT)
    try:
        from depyf.capture import children

        children.begin(rank_of_starter)
    except Exception as error:
        print(f"depyf does not capture process {os.getpid()}: {type(error).__name__}: {error}", file=sys.stderr)
    finally:
        if is_missing:
            sys.path.remove(_ROOT)
