"""PyTorch's loggers of artifacts: Inductor's IR, and the graphs of another process in which Inductor compiles.

depyf recognises the loggers by the ends of their names. A handler that raises an exception would break the compilation,
so the handlers of depyf catch all exceptions.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable

from depyf.compat import private
from depyf.compat.dynamo import not_compiled
from depyf.compat.private import guarded

_IR = {"__ir_pre_fusion": "ir_pre_fusion", "__ir_post_fusion": "ir_post_fusion"}
# If Inductor compiles in another process, the structured trace contains nothing of that process, but the loggers in
# `_ELSEWHERE` report its IR and its graphs.
_ELSEWHERE = {**_IR, "__post_grad_graphs": "AFTER_POST_GRAD"}
_SHOWN = re.compile(r"TRACED GRAPH\n =====.*=====\n+ \S+ (?=class )")


class Handler(logging.Handler):
    """A handler that passes each record to a function."""

    def __init__(self, receive: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(logging.DEBUG)
        # `emit` is itself the function that `not_compiled` marks for Dynamo to skip. If a method of depyf called
        # `not_compiled(receive)`, Dynamo could compile that method, because Dynamo skips only the frames of `logging`
        # and of `receive`.
        self.emit = not_compiled(receive)  # type: ignore[method-assign]


def has_inductor() -> bool:
    """True if the program has loaded Inductor, and with it the loggers of its IR."""
    return "torch._inductor.debug" in sys.modules


def add_ir_handlers(receive: Callable[[str, str], None], elsewhere: bool = False) -> Callable[[], None]:
    """Calls `receive(kind, text)` for each text of Inductor's IR that is logged, if Inductor is loaded; `kind` is
    "ir_pre_fusion" or "ir_post_fusion".

    Args:
        receive: is also called with the kind "AFTER_POST_GRAD" and the text of a graph if Inductor compiles in another
            process.
        elsewhere: true if Inductor compiles in another process.

    Returns:
        A function that removes the handlers.
    """
    undo = []
    kinds = _ELSEWHERE if elsewhere else _IR
    ends = tuple(kinds)
    for name in [name for name in logging.root.manager.loggerDict if name.endswith(ends)]:
        kind = kinds.get(name.rpartition(".")[2])
        if kind is not None:

            @guarded()
            def on_record(record: logging.LogRecord, kind: str = kind) -> None:
                text = record.getMessage()
                receive(kind, text if kind in _IR.values() else _SHOWN.sub("", text, count=1))

            try:
                undo.append(listen(logging.getLogger(name), on_record))
            except Exception as error:  # `remove` must still remove the handlers that were added before.
                private.not_found(name.rpartition(".")[2], f"raised {type(error).__name__}: {error}")

    def remove() -> None:
        for undo_one in undo:
            undo_one()

    return remove


def listen(logger: logging.Logger, receive: Callable[[logging.LogRecord], None]) -> Callable[[], None]:
    """Calls `receive(record)` for each record of a logger that is silent by default, without passing the records to
    other handlers.

    Returns a function that removes the handler.
    """
    handler = Handler(receive)
    before = logger.level, logger.propagate
    silent = not logger.isEnabledFor(logging.DEBUG)
    logger.addHandler(handler)
    if silent:
        # Only depyf has requested the debug records of this logger, so no other handler receives them.
        logger.setLevel(logging.DEBUG)
        logger.propagate = False

    def remove() -> None:
        logger.removeHandler(handler)
        # If `torch._logging.set_logs` was called in the meantime, its settings stay.
        if silent and (logger.level, logger.propagate) == (logging.DEBUG, False):
            logger.setLevel(before[0])
            logger.propagate = before[1]

    return remove
