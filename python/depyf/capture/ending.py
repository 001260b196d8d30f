"""Writes the index and the other files that a `prepare_debug` block can only write when it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from depyf import _core, dump, files, weak
from depyf.capture import before, outcomes, story
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilations import Compilations
from depyf.capture.failures import Failures
from depyf.capture.journaling import Journaling
from depyf.compat import dynamo, inductor, noticing, probe
from depyf.provenance import dumped
from depyf.session import Session

_FEATURES_OF_DUMPS = ("capture", "trace", "running", "inductor", "provenance", "guards", "reasons")


class Ending:
    """Writes the index and the files that need all compilations of a `prepare_debug` block. The class is not thread
    safe: callers must hold the lock of the `Recorder`. An `Ending` is created when a `prepare_debug` block begins,
    because the `Ending` records which functions were compiled before the block.

    Args:
        session: the session of the `prepare_debug` block.
        compilations: the compilations of the `prepare_debug` block.
        artifacts: writes the files of graphs, IR and kernels.
        journaling: the journal of the block, which is removed as soon as the index is written.
        functions: weak references to the code objects of the functions that were passed to `prepare_debug`.
        reports_earlier: true if compilations from before the block are reported; false if the block records a whole
            process.
    """

    def __init__(
        self,
        session: Session,
        compilations: Compilations,
        artifacts: Artifacts,
        journaling: Journaling,
        functions: tuple[weak.Reference, ...],
        reports_earlier: bool,
    ) -> None:
        self._session = session
        self._compilations = compilations
        self._artifacts = artifacts
        self._journaling = journaling
        self._functions = functions
        self._reports_earlier = reports_earlier
        self._compiled_before: weak.Table[bool] = weak.Table()
        for code in dynamo.compiled_codes() if reports_earlier else ():
            self._compiled_before.set(code, True)
        self._provenance: list[_core.JsonText] = []  # data that links kernels to source lines, for each compilation
        self._tables: list[tuple[str, int]] = []  # (table of kernels, number of captured operators) for each frame

    def steps(self, seen_codes: weak.Table[bool], failures: Failures) -> Iterator[Callable[[], None]]:
        """Yields the steps that end a `prepare_debug` block. If a step fails, the remaining steps are still executed.

        Args:
            seen_codes: the transformed code objects that Dynamo generated while the block was open.
            failures: the exceptions that depyf's hooks raised in the block.
        """
        yield self._write_items
        yield lambda: self._add_features(failures)
        yield lambda: self._add_compiled_before(seen_codes)
        yield self._add_missing
        yield self._explain_misses
        yield self._write_provenance
        yield self._write_full_code
        yield self._write_index

    def _write_items(self) -> None:
        for compilation in self._compilations.order:
            self._artifacts.write(compilation, last=True)
            frame = compilation.frame
            if frame.status == "not compiled" and not compilation.ended and not frame.notes:
                frame.error = dump.UNFINISHED

    def _add_features(self, failures: Failures) -> None:
        """Adds the state of each of depyf's features to the session, and warns about each private name of PyTorch that
        differs from the form that depyf expects."""
        if not failures.has_any:  # A failed hook can have lost data that PyTorch reported.
            # Dynamo does not report the beginning and the end of a compilation that it performs ahead of time or
            # restores from a cache. A compilation by `torch.compiler.precompile` does not use Dynamo at all.
            unreported = {outcomes.COMPILED_AHEAD, outcomes.PRECOMPILED}
            order = self._compilations.order
            # Of a compilation that another thread still performs, PyTorch reports more when the block has ended.
            thread = threading.get_ident()
            noticing.notice(
                [
                    each
                    for each in order
                    if unreported.isdisjoint(each.frame.notes)
                    and not each.restored
                    and (each.ended or each.thread == thread)
                ]
            )
        self._session.features = probe.features(right=probe.tell_losses())
        self._session.notes += [
            f"{feature.feature}: {feature.status}: {why}"
            for feature in self._session.features
            if feature.key in _FEATURES_OF_DUMPS
            for why in feature.why
        ]

    def _add_compiled_before(self, seen_codes: weak.Table[bool]) -> None:
        order = self._compilations.order
        before.add(
            self._compiled_before,
            self._functions,
            order,
            seen_codes,
            self._session,
            self._artifacts,
            warns=self._reports_earlier,
        )
        self._compilations.link_resume_names()

    def _add_missing(self) -> None:
        for compilation in self._compilations.order:
            compilation.frame.missing = dump.missing_artifacts(
                compilation.frame, compilation.cached, elsewhere=compilation.elsewhere, restored=compilation.restored
            )
            compilation.frame.notes += compilation.frame.unchecked

    def _explain_misses(self) -> None:
        """Adds to each recorded miss in Inductor's cache the differences between the key that was looked up and the
        most similar key in the cache. Misses in AOTAutograd's cache are not compared, because this cache does not store
        the parts of its keys."""
        folder = inductor.cache_folder()
        frames = [compilation.frame for compilation in self._compilations.order]
        compared = [miss for frame in frames for miss in frame.misses if miss.cache == "Inductor"]
        if folder is not None and compared:
            recorded = [str(self._artifacts.directory / miss.file) for miss in compared]
            for miss, lines in zip(compared, _core.explain_misses(recorded, folder), strict=True):
                miss.differences = lines
        for frame in frames:
            frame.notes += map(outcomes.miss_in_words, frame.misses)

    def _write_provenance(self) -> None:
        self._provenance = []
        tables: dict[int, tuple[str, int]] = {}
        for compilation in self._compilations.order:
            written = dumped.write(self._artifacts.directory, compilation.frame, compilation.seen)
            if written is not None:
                self._provenance.append(written.data)
            operators = len(compilation.seen.captured) or -1
            tables[id(compilation.frame)] = ("" if written is None else written.tables, operators)
        self._tables = [tables.get(id(frame), ("", -1)) for frame in self._session.frames]

    def _write_full_code(self) -> None:
        story.write(self._compilations.order, self._session, self._artifacts)

    def _write_index(self) -> None:
        directory: Path = self._artifacts.directory
        with files.locked(directory):
            dump.write_record(directory, [self._session], self._provenance, self._tables)
            # The written session contains everything that the journal contains, so the journal is removed.
            self._journaling.fold()
