"""Writes a cache entry to a file. The module `depyf.toolkit.entry_file` describes the format of the files of entries,
and reads such files."""

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
# {kind} entry of {name}: the code that Dynamo runs instead of the function, and the guards under which it does so.
#
# ENTRY names the function that this entry belongs to. Do not change ENTRY.
# NAMES lists the names that the code needs besides the globals of the function itself; "below" means that the name is
#   defined further down in this file.
# GUARDS are expressions over L (the locals by name), G (the globals) and torch. A call uses this entry only if all
#   guards hold. You may remove, change and add guards. only_here(...) stands for a guard that has no Python form.
# RESUMED contains the entries of the functions that continue after graph breaks, in the order in which they are tried.
# The last function of this file is the code of the entry. Do not change its parameters and free variables.
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
        report.warn(
            f"{path} cannot be loaded without changes, because it does not contain the whole entry: {'; '.join(missing)}"
        )
    elif left_out:
        report.warn(
            f"{path}: the code after a graph break is compiled again in the process that loads the file: {'; '.join(left_out)}"
        )


def _is_only_here(text: str) -> bool:
    return text.startswith("only_here(")


def _resumed_of(
    entry: CacheEntry, needed: dict[str, tuple[str, str]], entries_of: Callable[[Any], list[CacheEntry]]
) -> tuple[list[tuple[str, str, CacheEntry, dict[str, tuple[str, str]]]], list[str]]:
    """Returns the entries of all resume functions that the code of an entry calls, directly or through other resume
    functions, and the reasons why some of these entries cannot be written.

    Args:
        needed: a mapping from each name that the entry needs to a pair: the description of the name in NAMES, and its
            definition ("" if it has none).

    Returns:
        A pair of lists. The first list has a tuple for each entry of a resume function: the name of the resume
        function, a name for the entry's code, the entry, and the names that the entry needs. The second list has a
        sentence for each entry that cannot be written.
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
    """Returns the reason why an entry of a resume function cannot be written; an empty text if the entry can be
    written."""
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
        needed: a mapping from each name that the entry needs to a pair: the description of the name in NAMES, and its
            definition ("" if it has none).
        portable_forms: if true, the guards are written so that other processes can read them.
        resumed: a tuple for each entry of a resume function, with the name of the resume function, a name for the
            entry's code, the entry, and the names that the entry needs.
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
    """Returns the source of a function with the function renamed to `name`."""
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
    """Yields each guard of an entry with the text of its element in the list GUARDS. The guard that a method is called
    on one particular instance is skipped, because it has no element in GUARDS."""
    for guard in entry.guards:
        if guard.kind == "INSTANCE":
            continue
        text = portable.expression(guard, entry) if portable_forms else guard.expression
        if isinstance(guard, AddedGuard) and guard.function is not None and portable_forms:
            where = portable.place(guard.function)
            text = None if where is None else f"call({where!r})"
        yield guard, text if text is not None else f"only_here({' '.join(guard.text.split())!r})"


def names_of(entry: CacheEntry) -> dict[str, tuple[str, str]]:
    """Returns the names that the entry's code needs and that another process lacks. The result maps each name to a
    pair: the description of the name in NAMES, and its definition ("" if it has none)."""
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
        # `value` can be a wrapper that hides a function from Dynamo, and that has the attributes of the hidden
        # function.
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
    # Names in `entry.bound` that the entry's code does not use may be needed by definitions in a loaded file, or as
    # constants in edited source.
    for name in sorted(entry.bound.keys() - own):
        if entry.definitions or (name.startswith("__const_") and name in entry.source):
            add(name, entry.bound[name])
    return places


def _is_graph(value: Any) -> bool:
    return hasattr(value, "graph") and hasattr(value, "recompile")


def _is_replaced(value: Any) -> bool:
    """True if an edit has put `value` in the place of the compiled function of a graph."""
    return getattr(getattr(value, "__wrapped__", value), "__name__", "") in ("call", "call_with_kernels")


def constants_in(source: str, code: types.CodeType) -> list[tuple[str, object]]:
    """Returns pairs of a name `__const_N` and the constant that it stands for in the source of `code`."""
    if "__const_" not in source:
        return []
    return list(_core.constants(code).items())


def python_version() -> str:
    return ".".join(map(str, sys.version_info[:2]))
