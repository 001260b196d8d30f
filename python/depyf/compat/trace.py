"""PyTorch's channels of text: the structured trace and the artifact loggers.

Relied on: the logger `torch.__trace`, whose records carry `metadata` (a dict) and `payload` (text or None) and are
emitted by the compiling thread as things happen; the loggers of Inductor's IR, found by the end of their name. A
handler that raises would break the compilation: those added here must not.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from depyf.compat.dynamo import not_compiled

_TRACE = "torch.__trace"
_IR = {"__ir_pre_fusion": "ir_pre_fusion", "__ir_post_fusion": "ir_post_fusion"}


class _Handler(logging.Handler):
    def __init__(self, receive: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(logging.DEBUG)
        # No frame of ours between logging, which Dynamo does not look at, and what it is told not to look at.
        self.emit = not_compiled(receive)  # type: ignore[method-assign]


def missing() -> list[str]:
    """What this release of PyTorch lacks, one sentence each."""
    try:
        from torch._logging import trace_structured  # noqa: F401
    except ImportError:
        return ["This PyTorch has no structured trace: graphs, kernels and guards are not seen."]
    return []


def add_trace_handler(receive: Callable[[dict[str, object], str | None], None]) -> Callable[[], None]:
    """Has `receive(metadata, payload)` called for each record of the trace. Returns what takes it away again."""

    def on_record(record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", None)
        if isinstance(metadata, dict):
            receive(metadata, getattr(record, "payload", None))

    logger = logging.getLogger(_TRACE)
    handler = _Handler(on_record)
    logger.addHandler(handler)
    return lambda: logger.removeHandler(handler)


def has_inductor() -> bool:
    """Has the program loaded Inductor, and with it the loggers of its IR?"""
    return "torch._inductor.debug" in sys.modules


def add_ir_handlers(receive: Callable[[str, str], None]) -> Callable[[], None]:
    """Has `receive("ir_pre_fusion" | "ir_post_fusion", text)` called, if Inductor is loaded.

    Returns what takes it away again.
    """
    undo = []
    for name in list(logging.root.manager.loggerDict):
        kind = _IR.get(name.rpartition(".")[2])
        if kind is not None:
            undo.append(_listen(logging.getLogger(name), kind, receive))

    def remove() -> None:
        for one in undo:
            one()

    return remove


def _listen(logger: logging.Logger, kind: str, receive: Callable[[str, str], None]) -> Callable[[], None]:
    handler = _Handler(lambda record: receive(kind, record.getMessage()))
    level, propagate = logger.level, logger.propagate
    silent = not logger.isEnabledFor(logging.DEBUG)
    logger.addHandler(handler)
    if silent:
        # Nobody asked to see these records: they reach our handler and no other.
        logger.setLevel(logging.DEBUG)
        logger.propagate = False

    def remove() -> None:
        logger.removeHandler(handler)
        if silent:
            # `torch._logging.set_logs` in the meantime has the last word.
            if logger.level == logging.DEBUG:
                logger.setLevel(level)
            logger.propagate = propagate

    return remove
