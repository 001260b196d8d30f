"""Decides which texts depyf prints instead of PyTorch, in less time: only texts that are known to equal PyTorch's
texts.

To learn kinds of parts, depyf's text and PyTorch's text of an object are compared; if the texts are equal, all kinds of
parts in this object become known. PyTorch prints each object that has a part of an unknown kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MOST_WRONG = 3  # the number of wrong texts after which PyTorch prints all texts, because its format is not known


class Unknown(Exception):
    """The exception that is raised for an object that only PyTorch can print."""


class Learner:
    """Records the kinds of parts whose texts depyf prints exactly as PyTorch does."""

    def __init__(self) -> None:
        self._known: set[Any] = set()
        self._wrong = 0

    def text(self, make: Callable[[set[Any]], str], own: Callable[[], str]) -> str:
        """Returns the text of an object: depyf's text if all kinds of the object's parts are known, otherwise PyTorch's
        text.

        Args:
            make: returns the text as depyf prints it, and adds the kinds of all parts of the object to the set that it
                receives. If `make` raises an exception, such as `Unknown`, PyTorch's text is returned.
            own: returns the text as PyTorch prints it.
        """
        if self._wrong >= _MOST_WRONG:
            return own()
        parts: set[Any] = set()
        try:
            learned_text = make(parts)
        except Exception:
            return own()
        if parts <= self._known:
            return learned_text
        text = own()
        if learned_text == text:
            self._known |= parts
        else:
            self._wrong += 1
        return text
