"""Saves an entry of a function that was compiled ahead of time to a file that PyTorch loads.

If PyTorch's file format cannot represent an edit of the entry, a ValueError is raised that states the reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from depyf import _core, guards
from depyf.compat import ahead_file
from depyf.guards import Guard
from depyf.toolkit.conditions import is_below
from depyf.toolkit.edits import REPLACEMENT

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry

_ROUNDS = 3
"""The largest number of attempts to find all guards that PyTorch no longer builds because an edit dropped other guards
on their values."""


def save(entry: CacheEntry, path: Path) -> None:
    """Implements `CacheEntry.save_compiled_function`."""
    name = entry.target.name
    if entry.ahead is None:
        raise ValueError(
            f"{name} was not compiled ahead of time: PyTorch has no file for a single entry of Dynamo's cache. `save` writes one "
            "that depyf.load_entry reads"
        )
    try:
        state = _guards(entry)
        graph, names = _graph_and_names(entry)
        content = ahead_file.serialized(entry.ahead, entry.code, state, names, graph)
    except ahead_file.NotPossible as error:
        raise ValueError(f"{name} cannot be saved: {error}") from None
    except (ValueError, OSError):
        raise
    except Exception as error:
        raise ValueError(f"PyTorch cannot save this entry: {type(error).__name__}: {error}") from error
    path.write_bytes(content)


def _guards(entry: CacheEntry) -> bytes:
    """Returns the guards of an entry as a pickle, in the form in which PyTorch's file contains them.

    PyTorch's file can keep or drop the guards on a value only together. If an edit drops only some guards on a value,
    the remaining guards on this value are written as conditions, which are expressions. A guard that relates values to
    each other is also written as a condition if an edit drops the guards on one of these values.
    """
    kept = {id(guard) for guard in entry.guards}
    native = {id(guard) for guard in entry.native}
    dropped = [guard for guard in entry.native if id(guard) not in kept]
    state = ahead_file.guards_state(entry.ahead)
    if not dropped and all(id(guard) in native for guard in entry.guards):
        return state
    gone = {guard.source for guard in dropped if not guard.members}
    lost: list[Guard] = []
    for _ in range(_ROUNDS):
        rewritten = [
            guard
            for guard in entry.guards
            if id(guard) not in native or any(guard is known for known in lost) or _loses_a_value(guard, gone)
        ]
        conditions = [condition for guard in rewritten for condition in _conditions(entry, guard)]
        changed = ahead_file.with_guards(state, gone, conditions)
        there = {(guard.kind, guard.text) for guard in guards.read(ahead_file.manager_of(entry.ahead, changed)) or ()}
        missing = [
            guard
            for guard in entry.guards
            if (guard.kind, guard.text) not in there and all(guard is not known for known in rewritten)
        ]
        stays = [guard for guard in dropped if (guard.kind, guard.text) in there]
        if not missing and not stays:
            return changed
        if any(not guard.members for guard in stays):
            texts = "; ".join(guard.text for guard in stays)
            raise ValueError(
                f"{entry.target.name}: PyTorch always checks these conditions, whatever its file contains: {texts}"
            )
        lost += missing
        # PyTorch checks that all tensors with guards are different objects, so the guard on this relation can be
        # dropped only together with the other guards on the tensors.
        gone |= {member for guard in stays for member in guard.members}
    raise ahead_file.NotPossible("PyTorch builds different guards from its file than the guards of the entry")


def _loses_a_value(guard: Guard, gone: set[str]) -> bool:
    """True if PyTorch no longer builds `guard` when the guards on the values in `gone` are dropped."""
    if guard.members:
        return any(is_below(member, source) for member in guard.members for source in gone if source)
    return guard.source in gone


def _conditions(entry: CacheEntry, guard: Guard) -> tuple[str, ...]:
    if guard.conditions:
        return guard.conditions
    if getattr(guard, "function", None) is not None:
        raise ValueError(
            f"{entry.target.name}: the guard {guard.text} is a Python function, and PyTorch's file has guards as data: give it as "
            "an expression over L and G"
        )
    raise ValueError(
        f"{entry.target.name}: the guard {guard.text} has no form as an expression, and PyTorch's file no longer makes it once other "
        f"guards on {guard.source or 'the process'} are dropped: drop it too, or keep those"
    )


def _graph_and_names(entry: CacheEntry) -> tuple[Any, dict[str, Any]]:
    """Returns a pair (graph, names). `graph` is the graph module that an edit put in the place of the compiled graph,
    or None. `names` has all other globals that the entry's code reads and that the function's module lacks, with their
    values."""
    graph, names = None, {}
    known = entry.target.globals
    for name in _core.global_names(entry.code):
        value = entry.bound.get(name)
        if name not in entry.bound or (name in known and known[name] is value):
            continue
        if not ahead_file.is_graph_name(entry.ahead, name):
            names[name] = value
            continue
        graph = getattr(value, REPLACEMENT, None)
        if graph is None or not (hasattr(graph, "graph") and hasattr(graph, "recompile")):
            raise ValueError(
                f"{entry.target.name}: in the place of the graph stands {'an edited kernel' if graph is None else 'a callable'}, which "
                "PyTorch's file cannot hold: it has a graph module, or what a backend serializes"
            )
    return graph, names
