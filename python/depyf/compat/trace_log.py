"""PyTorch's structured trace as a log, as TORCH_TRACE makes PyTorch write it."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from depyf.compat import private
from depyf.compat.loggers import Handler

_TRACE = "torch.__trace"
_FORMATTER = "torch._logging._internal:TorchLogsFormatter"
_BYTES_MAX = 1 << 30
"""A program that compiles for ever fills no memory with its log."""


class _LogHandler(Handler):
    """Keeps the records as text. A forked child writes into its own copy."""

    def __init__(self, log: io.StringIO) -> None:
        super().__init__(self.keep)
        self._log, self._process = log, os.getpid()

    def keep(self, record: logging.LogRecord) -> None:
        """Appends a record to the log."""
        if self.formatter is not None and self._process == os.getpid() and self._log.tell() < _BYTES_MAX:
            self._log.write(self.formatter.format(record) + "\n")


def add_log(log: io.StringIO) -> Callable[[], None]:
    """Writes the structured trace into `log` until the function that it returns is called."""
    formatter = private.get(_FORMATTER)
    if formatter is None:
        return lambda: None
    handler = _LogHandler(log)
    handler.setFormatter(formatter(trace=True))
    logger = logging.getLogger(_TRACE)
    logger.addHandler(handler)

    def remove() -> None:
        logger.removeHandler(handler)

    return remove


@contextmanager
def without_handlers_of(package: str) -> Iterator[None]:
    """Takes the handlers that a package has added to the structured trace away while the block is open.

    pytest adds handlers to every logger that does not pass its records on. It would show each record of the trace as a
    line without a text, and PyTorch builds no records where nobody else listens.
    """
    logger = logging.getLogger(_TRACE)
    handlers = [each for each in logger.handlers if type(each).__module__.partition(".")[0] == package]
    for handler in handlers:
        logger.removeHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            logger.addHandler(handler)
