"""PyTorch's structured trace as a log in the form that PyTorch writes if TORCH_TRACE is set."""

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
"""The largest size of a log, so that a program that compiles forever does not fill the memory."""


class _LogHandler(Handler):
    """Writes the records of the structured trace into a log in memory. In a forked child, the handler does nothing."""

    def __init__(self, log: io.StringIO) -> None:
        super().__init__(self.keep)
        self._log, self._process = log, os.getpid()

    def keep(self, record: logging.LogRecord) -> None:
        """Appends a record to the log."""
        if self.formatter is not None and self._process == os.getpid() and self._log.tell() < _BYTES_MAX:
            self._log.write(self.formatter.format(record) + "\n")


def add_log(log: io.StringIO) -> Callable[[], None]:
    """Writes the structured trace into `log` until the returned function is called."""
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
    """During a `with` block, removes the handlers that a package has added to the structured trace.

    pytest adds handlers to every logger that does not pass its records on. A handler of pytest would show each record
    of the trace as a line without text, and makes PyTorch build records that it would not build otherwise.
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
