"""Has Inductor's IR printed in less time while a block is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from depyf.compat import intercept, private
from depyf.compat.ir_printer import Printer

_printer = Printer()


def add_text_hooks() -> Callable[[], None]:
    """Has `_printer` print the IR that Inductor logs.

    To be called when Inductor is loaded; nothing is done where it is not. Returns what takes it away.
    """

    def whole(original: Callable[..., Any]) -> intercept.Call:
        def call(args: tuple[Any, ...], kwargs: dict[str, Any], caller: str) -> Any:
            if kwargs or len(args) != 1:
                return original(*args, **kwargs)
            return _printer.text(args[0])

        return call

    away = intercept.around(private.get("torch._inductor.debug:DebugFormatter._write_ir"), whole)

    def remove() -> None:
        away()
        _printer.forget()

    return remove
