"""Decides which texts depyf prints instead of PyTorch, in less time, because both texts are known to be equal.

PyTorch prints all objects with a certain kind of part until depyf's text of such an object has been compared with
PyTorch's text once, and both were equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MOST_WRONG = 3  # the number of wrong texts after which PyTorch prints all texts, because its format is not known


class Unknown(Exception):
    """Raised for an object that only PyTorch can print."""


class Learner:
    """Records the kinds of parts whose texts depyf prints exactly as PyTorch does."""

    def __init__(self) -> None:
        self._known: set[Any] = set()
        self._wrong = 0

    def text(self, make: Callable[[set[Any]], str], own: Callable[[], str]) -> str:
        """Returns the text of an object: depyf's text if all kinds of the object's parts are known, otherwise
        PyTorch's.

        Args:
            make: returns the text as depyf prints it, and adds the kinds of all its parts to a set; if `make` raises an
                exception, such as `Unknown`, PyTorch's text is returned.
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
