"""Which code objects to stop in: functions, and what Dynamo made of them."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

from depyf.compat import dynamo

__all__ = ["Targets"]


class Targets:
    """The code objects of functions with all that torch.compile made of them; without functions, all that it made.

    Code that is compiled while this is at work is among them.
    """

    def __init__(self, codes: list[types.CodeType]) -> None:
        self._given = list(codes)
        self._codes: dict[int, types.CodeType] = {}
        self._originals: dict[int, types.CodeType] = {}
        self._undo: Callable[[], None] | None = None

    def start(self) -> None:
        for code in self._given:
            self._codes[id(code)] = code
        if "torch" not in sys.modules:
            return
        originals = dynamo.family(self._given) if self._given else dynamo.compiled_codes()
        for code in originals:
            self._add(code)
        self._undo = dynamo.add_bytecode_hook(self._compiled)

    def stop(self) -> None:
        if self._undo is not None:
            self._undo()
            self._undo = None
        self._codes.clear()
        self._originals.clear()

    def has(self, code: types.CodeType) -> bool:
        return self._codes.get(id(code)) is code

    def _add(self, original: types.CodeType) -> None:
        self._originals[id(original)] = original
        for entry in dynamo.entries(original):
            self._codes[id(entry.code)] = entry.code

    def _compiled(self, original: types.CodeType, transformed: types.CodeType) -> None:
        try:
            if not self._given or self._belongs(original):
                self._originals[id(original)] = original
                self._codes[id(transformed)] = transformed
        except Exception:  # a hook that raises would break the compilation
            pass

    def _belongs(self, original: types.CodeType) -> bool:
        if id(original) in self._originals or id(original) in self._codes:
            return True
        # A resume function keeps file and first line of the function that it goes on with.
        return dynamo.is_resume_code(original) and any(
            (one.co_filename, one.co_firstlineno) == (original.co_filename, original.co_firstlineno)
            for one in self._given
        )
