"""Finds the code objects in which execution stops: the code of functions, and the code that Dynamo generated for
them."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable

from depyf import weak
from depyf.compat import dynamo, installed

__all__ = ["Targets"]


class Targets:
    """The set of code objects in which execution stops. If `codes` is not empty, execution stops in `codes` and in all
    code that torch.compile generated for them. If `codes` is empty, execution stops in all code that torch.compile
    generated.

    Execution also stops in code that is compiled between `start` and `stop`.
    """

    def __init__(self, codes: list[types.CodeType]) -> None:
        self._given = [weak.reference(code) for code in codes]
        self._codes: weak.Table[bool] = weak.Table()
        self._originals: weak.Table[bool] = weak.Table()
        self._undo: Callable[[], None] | None = None

    def start(self) -> None:
        given = self._codes_given()
        for code in given:
            self._codes.set(code, True)
        if "torch" not in sys.modules:
            return
        originals = dynamo.family(given) if self._given else dynamo.compiled_codes()
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
        return code in self._codes

    def _codes_given(self) -> list[types.CodeType]:
        """Returns the given code objects that still exist."""
        return [code for refers in self._given if isinstance(code := refers(), types.CodeType)]

    def _add(self, original: types.CodeType) -> None:
        self._originals.set(original, True)
        for entry in dynamo.entries(original):
            self._codes.set(entry.code, True)

    def _compiled(self, original: types.CodeType, transformed: types.CodeType) -> None:
        try:
            if not self._given or self._belongs(original):
                self._originals.set(original, True)
                self._codes.set(transformed, True)
        except Exception:  # An exception of the hook would end the compilation.
            pass

    def _belongs(self, original: types.CodeType) -> bool:
        if original in self._originals or original in self._codes:
            return True
        # A resume function has the file and the first line of the function that it continues.
        return installed.is_resume_code(original) and any(
            (code.co_filename, code.co_firstlineno) == (original.co_filename, original.co_firstlineno)
            for code in self._codes_given()
        )
