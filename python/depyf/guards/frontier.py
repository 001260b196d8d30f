"""The frontier of a compilation: the conditions on the next call under which it is used again, in the user's terms."""

from __future__ import annotations

import re
from collections.abc import Iterable

from depyf import _core
from depyf.guards.model import Guard
from depyf.guards.terms import bounds, in_terms
from depyf.session import Limit, Symbol

_ALIASING = {"NO_TENSOR_ALIASING": "no two of {} are the same tensor", "OBJECT_ALIASING": "{} are the same object"}
_ALIASING["STORAGE_OVERLAPPING"] = "{} overlap in memory as they did"
_SAME = re.compile(r"^[\w.'\[\]]+ is [\w.'\[\]]+$")
_CLASS = re.compile(r"type=<class '([^']+)'>")
_OF_MODULE = re.compile(r"\['_(?:modules|parameters|buffers)'\]|\._(?:modules|parameters|buffers)\b")
_KEYS = re.compile(r"list\(dict\.keys\(")


def frontier(guards: Iterable[Guard], symbols: Iterable[Symbol] | None = None) -> list[Limit]:
    """Returns the limits of one compilation: first those that an argument can cross, and last those that are rarely
    crossed.

    Args:
        guards: the guards of the compilation.
        symbols: the symbolic sizes of the compilation with the origin of each bound, if they were recorded.
    """
    limits: list[Limit] = []
    state = fixed = parts = tensors = 0
    reach: dict[str, list[tuple[str, str, Guard]]] = {}
    for guard in guards:
        if guard.kind == "DIMENSION_DYNAMIC_MARKING_GUARD":
            continue
        if not guard.quiet:
            state += 1
        elif guard.kind in _ALIASING:
            names = ", ".join(in_terms(member) for member in guard.members)
            limits.append(Limit(_ALIASING[guard.kind].format(names), "", guard.line))
        elif guard.kind == "TENSOR_MATCH":
            if _OF_MODULE.search(guard.source):
                tensors += 1
            else:
                limits += _tensor(guard, reach)
        elif _OF_MODULE.search(guard.value or "") and (
            guard.kind not in ("EQUALS_MATCH", "TRUE_MATCH", "FALSE_MATCH") or _KEYS.match(guard.value or "")
        ):
            parts += 1
        elif guard.kind in ("ID_MATCH", "REACHABLE") or guard.source.startswith("G['__") or _is_about_modules(guard):
            fixed += 1
        elif (kind := _CLASS.search(guard.text)) and guard.kind == "TYPE_MATCH":
            name = in_terms(guard.source)
            limits.append(Limit(f"{name} is a {kind[1]}, of no subclass", name, guard.line))
        else:
            limits += _plain(guard, reach)
    limits = _ranges(reach, None if symbols is None else list(symbols)) + limits
    for count, text in (
        (tensors, "parameters and buffers keep type, dtype, device, shape and requires_grad"),
        (parts, "modules have the same classes, submodules and hooks"),
        (fixed, "functions, classes and modules in use are the same objects"),
        (state, "grad mode, autocast, default dtype and device, number of threads and other global state are the same"),
    ):
        if count:
            limits.append(Limit(f"{text} ({count} guard{'s' if count > 1 else ''})"))
    return limits


def _is_about_modules(guard: Guard) -> bool:
    """True if a guard checks names of modules instead of values."""
    return all(_SAME.match(condition) and "L[" not in condition for condition in guard.conditions) and bool(
        guard.conditions
    )


def _tensor(guard: Guard, reach: dict[str, list[tuple[str, str, Guard]]]) -> list[Limit]:
    name = in_terms(guard.source)
    facts = []
    for condition in guard.conditions:
        for subject, sign, constant in bounds(condition):
            if subject.startswith(f"{name}.shape["):
                reach.setdefault(subject, []).append((sign, constant, guard))
            elif subject == f"{name}.dtype":
                facts.append(constant)
            elif subject == f"{name}.requires_grad":
                facts.append(f"requires_grad {constant}")
            elif subject.startswith(f"{name}.stride("):
                facts.append(f"stride({subject.rpartition('(')[2][:-1]}) {constant}")
        if condition.startswith("type("):
            facts.insert(0, in_terms(condition.rpartition(" ")[2]))
    if not facts:
        return [Limit(guard.text, name, guard.line)]
    return [Limit(f"{name} is a tensor like the one that was seen: {', '.join(facts)}", name, guard.line)]


def _plain(guard: Guard, reach: dict[str, list[tuple[str, str, Guard]]]) -> list[Limit]:
    if guard.live is not None:
        return [Limit(guard.text, in_terms(guard.source), guard.line)]
    limits = []
    for condition in guard.conditions:
        if condition.startswith(("type(", "id(type(")) and len(guard.conditions) > 1:
            continue  # The constant 1.0 already shows that the value is a float.
        parts = bounds(condition)
        if parts:
            for subject, sign, constant in parts:
                reach.setdefault(subject, []).append((sign, constant, guard))
        else:
            limits.append(Limit(in_terms(condition), in_terms(guard.source), guard.line))
    return limits


def _ranges(reach: dict[str, list[tuple[str, str, Guard]]], symbols: list[Symbol] | None) -> list[Limit]:
    """Returns one limit for each value, from all comparisons that the value must satisfy."""
    by_source = {in_terms(source): symbol for symbol in symbols or () for source in symbol.sources}
    limits = []
    for subject, parts in sorted(reach.items(), key=lambda item: ".shape[" not in item[0]):
        low = [constant for sign, constant, _ in parts if sign == ">="]
        high = [constant for sign, constant, _ in parts if sign == "<="]
        first = parts[0][2]
        if len(low) == len(high) == 1 and len(parts) == 2:
            condition = f"{low[0]} <= {subject} <= {high[0]}"
        else:
            condition = " and ".join(dict.fromkeys(f"{subject} {sign} {constant}" for sign, constant, _ in parts))
        symbol = by_source.get(subject)
        if symbol is None:
            unknown = "what in PyTorch set this bound was not recorded; depyf.prepare_debug records it"
            is_size = first.line is None and ".shape[" in subject and symbols is None
            limits.append(Limit(condition, subject, None if is_size else first.line, unknown if is_size else ""))
            continue
        origins = []
        if high:
            origins.append(f"<= {high[0]}: {_core.bound_origin(symbol.upper_from)}")
        if low:
            origins.append(f">= {low[0]}: {_core.bound_origin(symbol.lower_from)}")
        limits.append(Limit(condition, subject, None, "; ".join(origins)))
    return limits


def together(entries: list[list[Limit]], most: int | None = None) -> list[str]:
    """Returns what the entries of a function accept together, as a line for each value that they fix or bound.

    Args:
        entries: the limits of each entry.
        most: the recompilation limit of a function.
    """
    subjects = list(dict.fromkeys(limit.subject for limits in entries for limit in limits if limit.subject))
    lines = []
    for subject in subjects:
        conditions: dict[str, str] = {}
        free = False
        for limits in entries:
            mine = [limit for limit in limits if limit.subject == subject]
            free |= not mine
            conditions.update((limit.condition, limit.why) for limit in mine)
        if free and len(entries) > 1:
            continue  # One of the entries accepts any value.
        whys = "; ".join(dict.fromkeys(why for why in conditions.values() if why))
        lines.append(" or ".join(conditions) + (f"  # {whys}" if whys else ""))
    if most is not None and entries:
        left = most - len(entries)
        lines.append(
            f"After {left} more compilation{'s' if left != 1 else ''} Dynamo gives the function up (recompile_limit {most})."
            if left > 0
            else f"Dynamo compiles the function no more: it has as many entries as it may (recompile_limit {most})."
        )
    return lines
