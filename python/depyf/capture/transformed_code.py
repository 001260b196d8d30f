"""Records the transformed code that Dynamo generates in place of a function's own code, at a call or ahead of time."""

from __future__ import annotations

import types
from typing import Any

from depyf import names, weak
from depyf.capture import hub, memory, outcomes
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation
from depyf.capture.compilations import Compilations
from depyf.capture.guarding import Guarding
from depyf.capture.items import Items
from depyf.compat import ahead, at_work, dynamo, installed
from depyf.guards import texts
from depyf.session import Frame, Session

RESTORED = "restored/"
"""The prefix of the ids that depyf gives to restored cache entries without an id of their own in PyTorch."""


class TransformedCode:
    """Records transformed code, and has its source written to a file. The class is not thread safe: callers must hold
    the lock of the `Recorder`.

    Args:
        session: the session of the `prepare_debug` block.
        compilations: the compilations of the `prepare_debug` block.
        items: receives the number N of a compilation, from the names `__compiled_fn_N` in its transformed code.
        artifacts: writes the source of the transformed code.
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
        """All transformed codes that were compiled in the `prepare_debug` block, and the codes from dumped files that
        run in their place."""

    def add(self, original: types.CodeType, code: types.CodeType) -> types.CodeType | None:
        """Records that Dynamo has generated `code` to run in place of `original`. Returns equivalent code that was
        compiled from the dumped file, and that Dynamo shall use in place of `code`; returns None if `code` itself shall
        run."""
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
        """Writes the source of transformed code. Returns equivalent code that was compiled from the written file, and
        that Dynamo shall use in place of `code`; returns None if `code` itself shall run."""
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
        """Records a function that was compiled ahead of time; `result` is None if the compilation failed."""
        compilation = self._compilations.end_ahead()
        if compilation is None or result is None or result.original is None:
            return
        self._compilations.touch(compilation)
        self._write_ahead(compilation, result)
        compilation.frame.notes = [outcomes.COMPILED_AHEAD]
        seen = memory.of(result.code)
        if seen is not None and compilation.guarded is not None:
            seen.line_of = compilation.guarded.origins.line_of

    def _write_ahead(self, compilation: Compilation, result: ahead.Compiled) -> None:
        """Writes the transformed code of a function that was compiled ahead of time, or loaded from a file. The
        function is made to run from the written file, which is safe because nobody has called the function yet."""
        assert result.original is not None
        may_run = hub.substitutes(self._artifacts.directory)
        replacement = self._write(compilation, result.original, result.code, may_run=may_run)
        frame = compilation.frame
        frame.guards = frame.guards or texts.tree(dynamo.guards_text(result.guard_manager))
        if replacement is not None:
            ahead.run_from(result, replacement)
            self._artifacts.announce_transformed(compilation, replacement, result.function)

    def end_loading(self, result: ahead.Compiled | None) -> None:
        """Records a function that was loaded from a file of `aot_compile`; `result` is None if loading failed."""
        compilation = self._compilations.end_ahead()
        if compilation is None or (result is None and not compilation.items):
            return
        if all(compilation is not known for known in self._compilations.order):
            self._compilations.add(compilation)
        self._compilations.touch(compilation)
        compilation.restored = compilation.ended = True
        frame = compilation.frame
        if result is None or result.original is None:
            frame.error = outcomes.NOT_LOADED
            self._items.write_all(compilation)
            return
        self._write_ahead(compilation, result)
        self._settle_restored(compilation, result.guard_manager, outcomes.LOADED_AHEAD)

    def add_restored(self, original: types.CodeType, manager: Any, code: types.CodeType) -> None:
        """Records an entry that PyTorch restores from Dynamo's cache of an earlier process."""
        compilation = self._compilations.current(original.co_name)
        if compilation is None or compilation.transformed() is not None:
            # PyTorch uses one compile id for all restored entries of a function, so each entry after the first gets an
            # id from depyf.
            compilation = Compilation(Frame(self._compilations.next_id(RESTORED), original.co_name))
            self._compilations.add(compilation)
        compilation.restored = compilation.ended = True
        self._write(compilation, original, code, may_run=False)
        memory.remember_restored(original, code)
        self._link_restored(original)
        compilation.frame.guards = texts.tree(dynamo.guards_text(manager))
        self._settle_restored(compilation, manager, outcomes.RESTORED)

    def _link_restored(self, resumed: types.CodeType) -> None:
        """Adds the resume function `resumed`, which PyTorch has restored, to the restored compilations whose
        transformed code calls `resumed`."""
        for compilation in self._compilations.order:
            original = compilation.function()
            if not compilation.restored or original is None or not installed.is_resume_code(resumed):
                continue
            for name in compilation.frame.resume_calls:
                if installed.resume_code(installed.find_global(name)) is resumed:
                    compilation.add_resume(name, resumed, original)
        self._compilations.link_resume_names()

    def _settle_restored(self, compilation: Compilation, manager: Any, note: str) -> None:
        """Sets the status, the note and the guards of a compilation that another process performed, and writes the
        files of its graphs and kernels."""
        frame = compilation.frame
        frame.status = "compiled before"
        frame.notes = [note.format(what=frame.title)]
        self._session.notes += [line for line in frame.notes if line not in self._session.notes]
        compilation.guarded = self._guarding.loaded(manager)
        frame.frontier = [] if compilation.guarded is None else compilation.guarded.frontier
        self._items.write_all(compilation)
