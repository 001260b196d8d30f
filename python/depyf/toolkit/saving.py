"""Writes a cache entry to a file. `depyf.toolkit.entry_file` describes the format of the file, and reads it."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depyf import _core, decompilation, report
from depyf.guards import Guard
from depyf.recompile import signature
from depyf.toolkit import portable
from depyf.toolkit.callees import ResumeFunction
from depyf.toolkit.conditions import AddedGuard
from depyf.toolkit.edits import REPLACEMENT

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry

FORMAT = 1
RESUMED = "RESUMED"
_HEAD = """\
# {kind} entry of {name}: what Dynamo runs in the place of the function, and when.
#
# ENTRY says to which function this entry belongs. It has to stay as it is.
# NAMES says what the code needs besides the function's own globals: "below" is defined further down.
# GUARDS must all hold for a call to take this entry: expressions over L (the locals by name), G (the globals) and torch.
#   Take lines away, change them, add some. only_here(...) is a guard that has no Python form.
# RESUMED has the entries of the functions that go on after graph breaks, in the order in which they are tried.
# The last function is the code itself. Its arguments and free variables have to stay as they are.
"""


def save(entry: CacheEntry, path: Path, entries_of: Callable[[Any], list[CacheEntry]]) -> None:
    """Implements `CacheEntry.save`.

    Args:
        entries_of: returns the cache entries of a resume function.
    """
    needed = names_of(entry)
    resumed, left_out = _resumed_of(entry, needed, entries_of)
    path.write_text(text_of(entry, needed, portable_forms=True, resumed=resumed), encoding="utf-8")
    missing = [f"{name}: {place}" for name, (place, _) in needed.items() if place.startswith("missing ")]
    missing += [
        f"a guard that has no Python form: {guard.text}" for guard, text in forms(entry, True) if _is_only_here(text)
    ]
    if missing:
        report.warn(f"{path} cannot be loaded as it is, for it has not all of the entry: {'; '.join(missing)}")
    elif left_out:
        report.warn(f"{path}: what follows a graph break is compiled again where it is loaded: {'; '.join(left_out)}")


def _is_only_here(text: str) -> bool:
    return text.startswith("only_here(")


def _resumed_of(
    entry: CacheEntry, needed: dict[str, tuple[str, str]], entries_of: Callable[[Any], list[CacheEntry]]
) -> tuple[list[tuple[str, str, CacheEntry, dict[str, tuple[str, str]]]], list[str]]:
    """Returns the entries of the resume functions that an entry leads to, and the reasons why some are left out.

    Args:
        needed: the names that the entry needs: name -> (its description in NAMES, its definition or "").

    Returns:
        For each entry (the name of the resume function, a name for the code, the entry, the names that it needs); and a
        sentence for each entry that is left out.
    """
    resumed: list[tuple[str, str, CacheEntry, dict[str, tuple[str, str]]]] = []
    left_out: list[str] = []
    done: set[str] = set()
    todo: list[tuple[CacheEntry, Mapping[str, tuple[str, str]]]] = [(entry, needed)]
    defined = {name: definition for name, (_, definition) in needed.items() if definition}
    for outer, outer_needs in todo:  # The list grows during the loop.
        short = _core.short_names(outer.code)
        for resume in outer.resume_functions:
            name = short.get(resume.full_name, resume.full_name)
            if name in done or outer_needs.get(name, ("",))[0] != "below":
                continue
            done.add(name)
            for number, inner in enumerate(_entries_of(outer, resume, entries_of)):
                needs = names_of(inner)
                why = _why_not_portable(inner, needs, defined)
                if why:
                    left_out.append(f"{name}: {why}")
                    continue
                defined.update(
                    (needed_name, definition) for needed_name, (_, definition) in needs.items() if definition
                )
                resumed.append((name, f"{name}_entry_{number}", inner, needs))
                todo.append((inner, needs))
    return resumed, left_out


def _entries_of(
    outer: CacheEntry, resume: ResumeFunction, entries_of: Callable[[Any], list[CacheEntry]]
) -> list[CacheEntry]:
    loaded = [
        entry
        for entry in outer.resumed
        if resume.function is not None and entry.target.code is resume.function.__code__
    ]
    return loaded or [entry for entry in entries_of(resume) if entry.kind == "ordinary"]


def _why_not_portable(entry: CacheEntry, needs: Mapping[str, tuple[str, str]], defined: Mapping[str, str]) -> str:
    """Returns why an entry of a resume function cannot be written; an empty text if it can."""
    for name, (place, definition) in needs.items():
        if place.startswith("missing "):
            return f"{name}: {place}"
        if definition and defined.get(name, definition) != definition:
            return f"two entries have a {name} of their own"
    without_form = [guard.text for guard, text in forms(entry, True) if _is_only_here(text)]
    return f"a guard that has no Python form: {without_form[0]}" if without_form else ""


def text_of(
    entry: CacheEntry,
    needed: Mapping[str, tuple[str, str]],
    *,
    portable_forms: bool,
    resumed: Sequence[tuple[str, str, CacheEntry, Mapping[str, tuple[str, str]]]] = (),
) -> str:
    """Returns the text of the file of an entry.

    Args:
        needed: name -> (its description in NAMES, its definition).
        portable_forms: if true, the guards are written so that other processes can read them.
        resumed: the entries of resume functions: (the name of the function, a name for the code, the entry, the names
            that it needs).
    """
    target, source = entry.target, entry.source
    kind = f"{entry.kind.capitalize()} cache"
    parts = [_HEAD.format(kind=kind, name=target.name)]
    parts += [f"# Warning: {warning}\n" for warning in entry.warnings]
    first = next((guard for guard in entry.guards if guard.kind == "INSTANCE"), None)
    instance = first is not None or target.instance is not None
    about = {
        "format": FORMAT,
        "function": target.name,
        "module": target.globals.get("__name__"),
        "arguments": signature(target.code),
        "free variables": list(target.code.co_freevars),
        "compile id": entry.compile_id,
        "instance": type(target.instance).__qualname__ if instance and target.instance is not None else None,
        "python": python_version(),
        "torch": torch_version(),
    }
    parts.append(_literal("ENTRY", about))
    parts.append(_literal("NAMES", {name: place for name, (place, _) in needed.items()}))
    parts.append("GUARDS = [\n" + "".join(_guard_lines(entry, portable_forms)) + "]\n")
    definitions = {name: definition for name, (_, definition) in needed.items() if definition}
    if resumed:
        parts.append(f"{RESUMED} = [\n" + "".join(_resumed_lines(resumed)) + "]\n")
        for _, code_name, inner, needs in resumed:
            definitions.update((name, definition) for name, (_, definition) in needs.items() if definition)
            definitions[code_name] = _named(inner.source, code_name)
    parts += [f"\n\n{definition.strip()}\n" for definition in definitions.values()]
    return "".join([*parts, f"\n\n{source.strip()}\n"])


def _resumed_lines(resumed: Sequence[tuple[str, str, CacheEntry, Mapping[str, tuple[str, str]]]]) -> Iterator[str]:
    for name, code_name, inner, needs in resumed:
        yield f"    {{\n        'function': {name!r},\n        'code': {code_name!r},\n"
        yield f"        'compile id': {inner.compile_id!r},\n        'names': {{\n"
        yield from (f"            {needed!r}: {place!r},\n" for needed, (place, _) in needs.items())
        yield "        },\n        'guards': [\n"
        yield from (f"            {text!r},\n" for _, text in forms(inner, True))
        yield "        ],\n    },\n"


def _named(source: str, name: str) -> str:
    """Returns the source of a function under another name."""
    return re.sub(r"^def \w+\(", f"def {name}(", source, count=1, flags=re.MULTILINE)


def torch_version() -> str:
    import torch

    return str(torch.__version__)


def _literal(name: str, value: dict[str, Any]) -> str:
    return f"{name} = {{\n" + "".join(f"    {key!r}: {item!r},\n" for key, item in value.items()) + "}\n"


def _guard_lines(entry: CacheEntry, portable_forms: bool) -> Iterator[str]:
    for guard, text in forms(entry, portable_forms):
        description = " ".join(guard.kind.split())
        if guard.source:
            description += f" on {guard.source}"
        if guard.line is not None:
            description += f", for {' '.join(str(guard.line).split())}"
        yield f"    # {description}\n    {text},\n"


def forms(entry: CacheEntry, portable_forms: bool) -> Iterator[tuple[Guard, str]]:
    """Yields each guard of an entry with its element of the list GUARDS in the file. The guard that a method is called
    on one instance is skipped, as GUARDS has no element for it."""
    for guard in entry.guards:
        if guard.kind == "INSTANCE":
            continue
        text = portable.expression(guard, entry) if portable_forms else guard.expression
        if isinstance(guard, AddedGuard) and guard.function is not None and portable_forms:
            where = portable.place(guard.function)
            text = None if where is None else f"call({where!r})"
        yield guard, text if text is not None else f"only_here({' '.join(guard.text.split())!r})"


def names_of(entry: CacheEntry) -> dict[str, tuple[str, str]]:
    """Returns (its description in NAMES, its definition or "") for each name in the source that another process
    lacks."""
    target = entry.target
    short = _core.short_names(entry.code)
    graphs = {graph.full_name: graph for graph in entry.graphs}
    resumes = {resume.full_name: resume for resume in entry.resume_functions}
    own = set(_core.global_names(entry.code))
    places: dict[str, tuple[str, str]] = {}

    def add(name: str, value: object) -> None:
        if name not in places:
            places[name] = (portable.described(value, target), "")

    for full in sorted(own & entry.bound.keys()):
        name, value = short.get(full, full), entry.bound[full]
        written: tuple[str, Mapping[str, object]] | None = None
        definition = entry.definitions.get(full)
        if definition is not None and definition[0] is value:
            places[name] = ("below", definition[1])
            continue
        # The wrapper that hides a function from Dynamo has the function's attributes.
        replacement = getattr(value, REPLACEMENT, getattr(value, "__wrapped__", value))
        if full in graphs and (not _is_replaced(value) or _is_graph(replacement)):
            module = replacement if _is_graph(replacement) else graphs[full].graph_module
            written = portable.graph_source(module, name) if module is not None else None
            place = "missing the graph, which holds objects of its own or is gone"
        elif full in resumes and resumes[full].function is not None:
            decompiled = decompilation.decompile(resumes[full].code, name=name)
            constants = dict(constants_in(decompiled.source, resumes[full].code))
            written = (decompiled.source, constants) if decompiled.proved else None
            place = f"missing the resume function, whose source is not proved: {decompiled.reason}"
        elif full in resumes:
            place = "missing the resume function, which has free variables"
        else:
            add(name, replacement if full in graphs else value)
            continue
        if written is None:
            places[name] = (place, "")
            continue
        places[name] = ("below", written[0])
        for inner, object_ in written[1].items():
            if target.globals.get(inner, places) is not object_:
                add(inner, object_)
    if entry.written is None:
        for name, value in constants_in(entry.source, entry.code):
            add(name, value)
    # The other names in `entry.bound` are needed by definitions that a loaded file contains, and by constants in edited
    # source.
    for name in sorted(entry.bound.keys() - own):
        if entry.definitions or (name.startswith("__const_") and name in entry.source):
            add(name, entry.bound[name])
    return places


def _is_graph(value: Any) -> bool:
    return hasattr(value, "graph") and hasattr(value, "recompile")


def _is_replaced(value: Any) -> bool:
    """True if an edit replaced the graph's function."""
    return getattr(getattr(value, "__wrapped__", value), "__name__", "") in ("call", "call_with_kernels")


def constants_in(source: str, code: types.CodeType) -> list[tuple[str, object]]:
    """Returns the objects that the names `__const_N` in the source of `code` stand for."""
    if "__const_" not in source:
        return []
    return list(_core.constants(code).items())


def python_version() -> str:
    return ".".join(map(str, sys.version_info[:2]))
