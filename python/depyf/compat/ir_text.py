"""Has Inductor's IR printed in less time while a block is open."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from depyf.compat import intercept, private
from depyf.compat.ir_printer import Printer

_WRITES = "torch._inductor.debug:DebugFormatter._write_ir"
_printer = Printer()
"""PyTorch's texts have taught it what it can print, which stays right as long as the process uses one PyTorch. It has
no lock, as it only adds to a set and to tables of texts; `forget`, at the end of the last block, clears those tables,
and nothing clears the rest. A forked child goes on with its copy."""


def add_text_hooks() -> Callable[[], None]:
    """Makes `_printer` print the IR that Inductor logs.

    Is to be called when Inductor is loaded; does nothing if it is not. Returns what takes it away.
    """

    def whole(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            if not kwargs and len(args) == 1:
                with contextlib.suppress(Exception):  # of a release that prints in another way
                    return _printer.text(args[0])
            try:
                return original(*args, **kwargs)
            except Exception as error:  # Inductor prints it for the block alone: the compilation must not fail for that
                private.not_found(_WRITES, f"raised {type(error).__name__}: {error}")
                return ""

        return call

    away = intercept.around(private.get(_WRITES), whole)

    def remove() -> None:
        away()
        _printer.forget()

    return remove
