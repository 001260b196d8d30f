"""Lets `depyf.compat.graph_printer` answer calls of `GraphModule.print_readable`, which takes less time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from depyf.compat import intercept, private
from depyf.compat.graph_printer import Printer

# As PyTorch has graphs printed for its logs and caches, and `Printer` prints them.
_ALWAYS = {"print_output": False, "include_stride": True, "include_device": True}
_SOMETIMES = {"fast_sympy_print": "simple", "expanded_def": "expanded"}

_printer = Printer()
"""PyTorch's texts have taught it what it can print, which stays right as long as the process uses one PyTorch. It has
no lock, as it only adds to a set; nothing clears it, and a forked child goes on with its copy."""


def add_text_hook() -> Callable[[], None]:
    """Makes the printing of graphs faster, until the function that it returns is called."""

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
            return _printer.text(args[0], lambda: original(*args, **kwargs), **options)

        return call

    return intercept.around(private.get("torch.fx:GraphModule.print_readable"), answer)
