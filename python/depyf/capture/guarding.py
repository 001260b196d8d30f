"""Keeps the guards of each compilation in a `prepare_debug` block as a list, each guard with the source line that needs
it, and determines which guards reject a later call."""

from __future__ import annotations

import types
from dataclasses import dataclass, replace
from typing import Any

from depyf import guards, weak
from depyf.compat import at_work, dynamo, guard_tree, origins
from depyf.guards import check_times, process_state
from depyf.guards.frontier import frontier
from depyf.guards.reasons import reasons
from depyf.session import Failure, GuardTime, Limit, Symbol

# The largest number of reasons that are kept for one compilation; more reasons would not help a reader.
_MOST_REASONS = 20
# The name of the phase in PyTorch's timeline during which depyf measures how long a check of guards takes.
_MEASURING = "depyf.guard_times"
# Up to this number of compilations, guards are kept without checking whether their cache entries still exist.
_FEW = 64


@dataclass
class Guarded:
    """The guards of one compilation, as a record that holds no objects of PyTorch."""

    guards: guards.Guards
    origins: origins.Origins
    frontier: list[Limit]

    @property
    def symbols(self) -> list[Symbol]:
        """The symbolic sizes of the compilation."""
        return self.origins.symbols


class Guarding:
    """The guards of all compilations of a `prepare_debug` block.

    Guards refer to objects of PyTorch, so the guards of a compilation are kept only as long as its cache entry exists.

    Args:
        measures: true if the time that a check of each compilation's guards takes is to be measured.
    """

    def __init__(self, *, measures: bool = False) -> None:
        self._measures = measures
        self._known: weak.Table[tuple[guards.Guards, Guarded]] = weak.Table()
        self._codes: weak.Table[bool] = weak.Table()  # keys: the codes of the functions that the guards belong to
        self._most = _FEW

    def made(self, code: types.CodeType, manager: Any, local: dict[str, Any], builder: Any) -> Guarded | None:
        """Reads the guards that PyTorch has just built for a compilation; returns None if this PyTorch has no tree of
        guards."""
        origins_read = origins.read(builder)
        read = guards.read(manager, local, origins_read.line_of)
        if read is None:
            return None
        guarded = Guarded(read.recorded(), origins_read, frontier(read, origins_read.symbols))
        self._known.set(manager, (read, guarded))
        self._codes.set(code, True)
        if len(self._known) > self._most:
            self._forget_what_is_gone(manager)
        return guarded

    @staticmethod
    def loaded(manager: Any) -> Guarded | None:
        """Reads guards that were loaded from a file; returns None if this PyTorch has no tree of guards."""
        read = guards.read(manager)
        return None if read is None else Guarded(read.recorded(), origins.Origins(), frontier(read))

    def time(self, manager: Any, local: dict[str, Any]) -> GuardTime | None:
        """Returns the time that a check of the guards takes on the call that is being compiled; None if the time is not
        measured."""
        if not self._measures:
            return None
        tree = guard_tree.read(manager)
        if tree is None:
            return None
        with dynamo.timed(_MEASURING):
            return check_times.measured(tree, local)[0]

    def _forget_what_is_gone(self, new: Any) -> None:
        """Removes the guards of cache entries that Dynamo has dropped. PyTorch may keep the guard managers of dropped
        entries alive, so the items of these entries do not vanish from the weak table `_known` by themselves."""
        managers = [entry.manager for code, _ in self._codes.items() for entry in dynamo.raw_entries(code)]
        alive = {id(manager) for manager in [new, *managers]}
        for manager, _ in self._known.items():
            if id(manager) not in alive:
                self._known.pop(manager)
        self._most = max(_FEW, 2 * len(self._known))

    def failures(self, told_by_torch: list[str]) -> list[Failure]:
        """Returns the reasons why the existing compilations of a function reject the call that is being compiled; the
        reasons of the nearest compilation come first.

        The nearest compilation is the compilation from which the call differs in the fewest values. This method must be
        called while PyTorch reports its own reasons for the recompilation, which are passed as `told_by_torch`.
        PyTorch's reasons are used for compilations in whose guards depyf finds no reason.
        """
        call = at_work.call_to_compile()
        if call is None:
            return [_told(reason) for reason in told_by_torch]
        code, local = call
        failures_of_entries: list[list[Failure]] = []
        for entry in dynamo.live_entries(code):
            reasons = [reason for reason in told_by_torch if reason.startswith(f"{entry.compile_id}:")]
            failures_of_entries.append(self._failing(entry, local) or [_told(reason) for reason in reasons])
        nearest_first = sorted((failures for failures in failures_of_entries if failures), key=_distance)
        return [failure for failures in nearest_first for failure in failures[:_MOST_REASONS]]

    def _failing(self, entry: dynamo.Live, local: dict[str, Any]) -> list[Failure]:
        manager = entry.guard_manager
        known = self._known.get(manager)
        listed = known[0] if known is not None else guards.read(manager)
        scope = dynamo.globals_of(manager)
        if listed is None or scope is None:
            return []
        origins_of = {limit.subject: limit.origin for limit in known[1].frontier} if known is not None else {}
        return [
            replace(
                failure,
                entry=entry.compile_id or "",
                origin=origins_of.get(failure.subject, "") if failure.line is None else "",
            )
            for failure in reasons(listed, local, scope)
        ]

    def close(self) -> None:
        """Releases the references to PyTorch's objects."""
        self._known.clear()


_ASPECTS_OF_A_TENSOR = (".shape", ".stride()", ".dtype", ".device", ".layout", ".requires_grad")


def _distance(failures: list[Failure]) -> tuple[int, int, int]:
    """Returns a measure of how much a call differs from a compilation: the number of values that differ, the number of
    failures, and the number of guards that fail."""
    values = set()
    for failure in failures:
        aspect = next((aspect for aspect in _ASPECTS_OF_A_TENSOR if failure.subject.endswith(aspect)), "")
        values.add(failure.subject.removesuffix(aspect))
    return len(values), len(failures), sum(1 + len(failure.alike) + len(failure.follows) for failure in failures)


def _told(reason: str) -> Failure:
    """Returns the `Failure` for a reason of which only PyTorch's own text is known."""
    entry, _, text = reason.partition(": ")
    first = process_state.reason_in_words(text.partition("\n")[0].strip())
    return Failure(first, "", "", "", entry=entry)
