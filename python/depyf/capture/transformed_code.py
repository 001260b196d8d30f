"""The code that Dynamo makes in place of a function's own, by a call or ahead of time."""

from __future__ import annotations

import types

from depyf import function_names, names, weak
from depyf.capture import hub, memory, outcomes
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation
from depyf.capture.compilations import Compilations
from depyf.capture.guarding import Guarding
from depyf.capture.items import Items
from depyf.compat import ahead, at_work, dynamo, installed
from depyf.guards import texts
from depyf.session import Frame, Session


class TransformedCode:
    """Records transformed code and has it written. It is not thread safe: callers hold the recorder's lock.

    Args:
        session: of the block.
        compilations: the compilations of the block.
        items: learns the number of a compilation from the names in its code.
        artifacts: writes the source.
        guarding: reads the guards of code that is loaded from a file.
    """

    def __init__(
        self,
        session: Session,
        compilations: Compilations,
        items: Items,
        artifacts: Artifacts,
        guarding: Guarding,
    ) -> None:
        self._session = session
        self._compilations = compilations
        self._items = items
        self._artifacts = artifacts
        self._guarding = guarding
        self.seen: weak.Table[bool] = weak.Table()
        """The transformed codes that the block saw, and what runs in their place."""

    def add(self, original: types.CodeType, code: types.CodeType) -> types.CodeType | None:
        """Records that Dynamo has generated `code` to run in place of `original`. Returns the same code compiled from a
        file if that is to run."""
        compilation = self._compilations.current(original.co_name)
        if compilation is None:
            return None
        may_run = hub.substitutes(self._artifacts.directory)
        replacement = self._write(compilation, original, code, may_run=may_run)
        self._artifacts.tie(compilation, replacement or code)
        return replacement

    def _write(
        self, compilation: Compilation, original: types.CodeType, code: types.CodeType, *, may_run: bool
    ) -> types.CodeType | None:
        """Writes transformed code. Returns the same code compiled from the file if that is to run."""
        frame = compilation.frame
        compilation.set_original(original)
        compilation.transformed = weak.reference(code)
        self._remember(code, frame)
        frame.status = "compiled"
        outcomes.describe(frame, original)
        self._name_resume_functions(compilation, original, code)
        called = [
            number
            for nested in names.nested_codes(code)
            for name in nested.co_names
            if (number := names.compiled_fn_number(name)) is not None
        ]
        if called:
            self._items.set_number(compilation, called[0] if compilation.number not in called else compilation.number)
        replacement = self._artifacts.write_transformed(compilation, code, may_run=may_run)
        if replacement is not None:
            compilation.transformed = weak.reference(replacement)
            self._remember(replacement, frame)
        return replacement

    def _remember(self, code: types.CodeType, frame: Frame) -> None:
        memory.remember(code, self._session, frame)
        self.seen.set(code, True)

    def _name_resume_functions(self, compilation: Compilation, original: types.CodeType, code: types.CodeType) -> None:
        """Records the resume functions that transformed code calls."""
        table = at_work.globals_being_compiled() or {}
        for nested in names.nested_codes(code):
            for name in nested.co_names:
                if installed.is_resume_name(name):
                    compilation.add_resume(name, installed.resume_code(table.get(name)), original)
        self._compilations.link_resume_names()

    def end_ahead(self, result: ahead.Compiled | None) -> None:
        """Records what was compiled ahead of time; None where that failed."""
        compilation = self._compilations.end_ahead()
        if compilation is None or result is None or result.original is None:
            return
        self._compilations.touch(compilation)
        self._write(compilation, result.original, result.code, may_run=False)
        frame = compilation.frame
        frame.notes = [outcomes.COMPILED_AHEAD]
        frame.guards = frame.guards or texts.tree(dynamo.guards_text(result.guard_manager))
        seen = memory.of(result.code)
        if seen is not None and compilation.guarded is not None:
            seen.line_of = compilation.guarded.origins.line_of

    def load_ahead(self, loaded: ahead.Compiled) -> None:
        """Records a function that is loaded from a file of what was compiled ahead of time."""
        original = loaded.original
        if original is None:
            return
        number = sum(known.frame.compile_id.startswith("ahead/") for known in self._compilations.order)
        place = original.co_name, original.co_filename, original.co_firstlineno
        frame = Frame(f"ahead/{number}", *place, "compiled before")
        frame.name = function_names.of_code(original)
        frame.guards = texts.tree(dynamo.guards_text(loaded.guard_manager))
        frame.notes = [outcomes.LOADED_AHEAD.format(what=frame.title)]
        compilation = Compilation(frame)
        compilation.set_original(original)
        compilation.guarded = self._guarding.loaded(loaded.guard_manager)
        frame.frontier = [] if compilation.guarded is None else compilation.guarded.frontier
        self._compilations.add(compilation)
        self._session.notes += frame.notes
        self._remember(loaded.code, frame)
        self._artifacts.write_transformed(compilation, loaded.code, may_run=False)
