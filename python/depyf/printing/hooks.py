"""Replaces PyTorch's printing functions by the printers of this package while a `prepare_debug` block is open."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from depyf.compat import intercept, printed
from depyf.printing import graphs, guards, ir

VARIABLE = "DEPYF_PRINTING"
"""The environment variable that leaves all printing to PyTorch if its value is "pytorch"."""
# The options with which PyTorch prints graphs for its logs and caches, and which `graphs.Printer` supports.
_ALWAYS = {"print_output": False, "include_stride": True, "include_device": True}
_SOMETIMES = {"fast_sympy_print": "simple", "expanded_def": "expanded"}

_graphs = graphs.Printer()
"""The printer of graphs. The printer has a set of the kinds of nodes and arguments that it prints exactly as PyTorch
does. This set stays valid, because a process uses only one release of PyTorch. The printer has no lock, as it only adds
to a set; nothing clears the set, and a forked child continues with its copy."""
_guards = guards.Printer()
"""The printer of trees of guards. The printer has no lock, as it only adds to a set; nothing clears the set, and a
forked child continues with its copy."""
_ir = ir.Printer()
"""The printer of Inductor's IR. The printer has no lock, as it only adds to a set and to tables of texts. At the end of
the last `prepare_debug` block, `forget` clears the tables of texts; nothing clears the set of the kinds of nodes that
the printer can print. A forked child continues with its copy of the printer of IR."""


def is_enabled() -> bool:
    """True unless the environment variable `DEPYF_PRINTING` leaves all printing to PyTorch."""
    return os.environ.get(VARIABLE) != "pytorch"


def add_graph_hook() -> Callable[[], None]:
    """Makes the printing of graphs faster, until the returned function is called."""

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            rest = kwargs.keys() - _ALWAYS.keys()
            if (
                len(args) != 1
                or not rest <= _SOMETIMES.keys()
                or any(kwargs.get(key) is not _ALWAYS[key] for key in _ALWAYS)
            ):
                return original(*args, **kwargs)
            options = {name: bool(kwargs.get(key)) for key, name in _SOMETIMES.items()}
            return _graphs.text(args[0], lambda: original(*args, **kwargs), **options)

        return call

    return intercept.around(printed.graph_function(), answer) if is_enabled() else _do_nothing


def add_guard_hook() -> Callable[[], None]:
    """Makes the printing of trees of guards faster, until the returned function is called."""

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            if len(args) != 1 or kwargs:
                return original(*args, **kwargs)
            return _guards.text(args[0].root, lambda: original(*args))

        return call

    return intercept.around(printed.guard_function(), answer) if is_enabled() else _do_nothing


def add_ir_hook() -> Callable[[], None]:
    """Makes the printing of Inductor's IR faster, until the returned function is called.

    `add_ir_hook` must be called after Inductor is loaded; an earlier call has no effect. Inductor prints the IR only
    for the `prepare_debug` block. An exception in Inductor's printing function must therefore not reach the
    compilation, even if all printing is left to PyTorch.
    """

    def answer(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            text = _ir_text(args[0]) if not kwargs and len(args) == 1 else None
            if text is not None:
                return text
            try:
                return original(*args, **kwargs)
            except Exception as error:
                printed.ir_function_failed(error)
                return ""

        return call

    end = intercept.around(printed.ir_function(), answer)

    def remove() -> None:
        end()
        _ir.forget()

    return remove


def _ir_text(nodes: Any) -> str | None:
    """Returns the text of nodes of the IR; None if PyTorch has to print them, as in a release that prints in another
    format."""
    if not is_enabled():
        return None
    try:
        return _ir.text(nodes)
    except Exception:
        return None


def _do_nothing() -> None:
    pass
