"""Makes changed copies of a cache entry, with another code object, other graphs or other guards."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import linecache
import types
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depyf.compat import dynamo, live_graphs
from depyf.decompilation import PROVED
from depyf.decompilation import decompile as decompile_code
from depyf.guards import Guard
from depyf.recompile import compile_checked
from depyf.toolkit import callees, conditions, kernels
from depyf.toolkit.target import why_refused
from depyf.toolkit.validation import check_code, unknown_names

if TYPE_CHECKING:
    from depyf.toolkit.entries import CacheEntry

_counter = itertools.count(1)
"""Numbers edited source texts that are in no file; the number is part of the file name that tracebacks print for such a
text. The counter needs no lock, as `next` is one step; nothing clears it. A forked child continues with its own copy of
the counter."""
REPLACEMENT = "_depyf_replacement"
"""The name of the attribute in which a function that replaces a graph keeps the object that the user passed as the
replacement."""
_UNSAVED = "<depyf edit "
"""The prefix of the file names that tracebacks print for edited source texts that are in no file."""
EDITED = "# edited"
"""The first line of an edited source, which replaces the line with which depyf marks decompiled source that is proved
equivalent to its bytecode."""


def edit(
    entry: CacheEntry,
    source: str | Path | Text | None,
    code: types.CodeType | None,
    drop: Any,
    add: Any,
    replace: Any,
    relax: Any,
    graph: Any,
    kernel: Any,
    bind: Mapping[str, Any] | None,
) -> CacheEntry:
    """Implements `CacheEntry.edit`."""
    if refused := why_refused(entry.target.code):
        raise ValueError(refused)
    if source is not None and code is not None:
        raise ValueError("pass source= or code=, but not both")
    copy = dataclasses.replace(
        entry,
        kind="edited" if entry.kind != "loaded" else "loaded",
        guards=list(entry.guards),
        bound={**entry.bound, **(bind or {})},
        warnings=list(entry.warnings),
        _manager=None,
    )
    if source is not None or code is not None:
        copy.kind = "edited"
        copy.code, copy.written = _new_code(entry, source, code, copy.bound)
        if copy.code.co_filename.startswith(_UNSAVED):
            weakref.finalize(copy.code, linecache.cache.pop, copy.code.co_filename, None).atexit = False
        if source is not None:
            copy.warnings += _doubt(entry)
    copy._need_code()
    if graph is not None:
        _replace_graphs(copy, graph)
    if kernel is not None:
        kernels.replace_kernels(copy, kernel)
    _edit_guards(copy, drop, add, replace, relax)
    return copy


def _new_code(
    entry: CacheEntry, source: str | Path | Text | None, code: types.CodeType | None, bound: dict[str, Any]
) -> tuple[types.CodeType, str | None]:
    target = entry.target
    written = None
    where: dict[str, int] = {}
    if source is not None:
        text = _text(source, target.name)
        written = _without_claim(text.text, entry)
        compiled = compile_checked(text.padded, target.code, constants_of=entry.code, filename=text.filename)
        where = _lines_of_names(text.padded)
        in_file = "" if text.filename.startswith("<") else f"{text.filename}: "
    else:
        compiled = code  # type: ignore[assignment]
        in_file = ""
    checked = check_code(compiled, target)
    for name in unknown_names(checked, entry.code, target, bound):
        place = f", line {where[name]}" if name in where else ""
        raise NameError(
            f"{in_file}{target.name}{place}: {name} is not defined: neither in the module of the function nor in Python. "
            f"Give it with bind={{{name!r}: ...}}",
            name=name,
        )
    return checked, written


@dataclasses.dataclass(frozen=True)
class Text:
    """A source text, with the file and the line at which it begins."""

    text: str
    filename: str
    """The name of the file in tracebacks."""
    line: int = 1
    """The line of the file at which the text begins."""

    @property
    def padded(self) -> str:
        """The text behind `line - 1` empty lines, so that its code has the line numbers that the text has in its
        file."""
        return "\n" * (self.line - 1) + self.text


def _text(source: str | Path | Text, name: str) -> Text:
    """Returns `source` as a `Text`. If `source` is a path, the text is the content of the file with this path."""
    if isinstance(source, Text):
        return source
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source and source.endswith(".py")):
        return Text(Path(source).read_text(encoding="utf-8"), str(source))
    if not isinstance(source, str):
        raise TypeError(f"source= is text or a path, not {type(source).__name__}")
    filename = f"{_UNSAVED}{next(_counter)} of {name}>"
    # Tracebacks and debuggers find the source lines in `linecache.cache`.
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    return Text(source, filename)


def _without_claim(text: str, entry: CacheEntry) -> str:
    """Returns `text`. A first line that states that the source is proved equivalent to the bytecode is replaced by the
    comment `EDITED`, if the text differs from the decompiled source of the entry."""
    if not text.startswith(PROVED) or text == entry.source:
        return text
    return EDITED + text[len(PROVED) :]


def _doubt(entry: CacheEntry) -> list[str]:
    """Returns a list with one warning if the decompiled source, which the user edited, is not proved equivalent to the
    bytecode; otherwise returns an empty list."""
    if entry.written is not None:
        return []
    reason = decompile_code(entry.code).reason
    return [f"the source that was edited is not proved to do what Dynamo's code does: {reason}"] if reason else []


def _lines_of_names(text: str) -> dict[str, int]:
    line_of_name: dict[str, int] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            line_of_name[node.id] = min(node.lineno, line_of_name.get(node.id, node.lineno))
    return line_of_name


# The functions below replace the graphs of an entry.


def _replace_graphs(copy: CacheEntry, given: Any) -> None:
    graphs = {graph.full_name: graph for graph in copy.graphs}
    for name, replacement in callees.by_name(copy, given, "graph").items():
        graph = graphs[name]
        inputs = outputs = None
        if graph.graph_module is not None:
            inputs, outputs = len(graph.placeholders), _output_count(graph.graph_module)
        _check_replacement(graph.name, replacement, inputs, outputs)
        copy.bound[name] = dynamo.not_compiled(_returning_tuple(graph.name, replacement, outputs))


def _check_replacement(name: str, replacement: Any, inputs: int | None, outputs: int | None) -> None:
    if not callable(replacement):
        raise TypeError(f"{name}: a graph module or a callable is needed, not {type(replacement).__name__}")
    if hasattr(replacement, "graph") and hasattr(replacement, "recompile"):
        replacement.graph.lint()
        replacement.recompile()
        inputs_given = len(live_graphs.placeholders(replacement))
        if inputs is not None and inputs_given != inputs:
            raise ValueError(f"{name}: the edited graph has {inputs_given} inputs, but the code passes {inputs}")
        returned = _output_count(replacement)
        if outputs is not None and returned != outputs:
            has = "does not return a tuple" if returned is None else f"returns {returned} values"
            raise ValueError(f"{name}: the edited graph {has}, but the code uses {outputs}")
    elif inputs is not None:
        try:
            inspect.signature(replacement).bind(*range(inputs))
        except TypeError as error:
            raise ValueError(f"{name}: the code calls it with {inputs} arguments: {error}") from None
        except ValueError:  # Some callables have no signature.
            pass


def _output_count(graph_module: Any) -> int | None:
    """Returns the number of values in the tuple or list that a graph returns; None if the graph returns neither a tuple
    nor a list."""
    for node in reversed(graph_module.graph.nodes):
        if node.op == "output":
            returned = node.args[0]
            return len(returned) if isinstance(returned, (tuple, list)) else None
    return None


def _returning_tuple(name: str, replacement: Any, outputs: int | None) -> Any:
    """Returns a function that calls the replacement of a graph, and raises a TypeError unless the result is a tuple or
    a list of the expected length.

    Transformed code indexes the result of a graph, and indexing a tensor instead of a tuple would silently yield wrong
    values.
    """

    def call(*args: Any) -> Any:
        result = replacement(*args)
        if not isinstance(result, (tuple, list)) or (outputs is not None and len(result) != outputs):
            wanted = "a tuple" if outputs is None else f"a tuple of {outputs}"
            got = f"{len(result)} values" if isinstance(result, (tuple, list)) else type(result).__name__
            raise TypeError(f"the replacement of {name} has to return {wanted}, not {got}")
        return result

    call.__wrapped__ = replacement  # type: ignore[attr-defined]
    setattr(call, REPLACEMENT, replacement)
    return call


# The functions below edit the guards of an entry.


def _edit_guards(copy: CacheEntry, drop: Any, add: Any, replace: Any, relax: Any) -> None:
    target = copy.target
    original = list(copy.guards)
    first = [guard for guard in original if guard.kind == "INSTANCE"]
    if target.instance is not None and not first and target.code.co_varnames:
        copy.guards.append(conditions.only_for(target.instance, target))
    for selector in _several(drop):
        _drop(copy, original, selector)
    for selector, condition in _pairs(replace):
        chosen = [guard for guard in conditions.select(original, selector) if any(guard is g for g in copy.guards)]
        if not chosen:
            raise ValueError(f"the guard {selector!r} was dropped by the same edit")
        if isinstance(selector, str):
            chosen = [guard for guard in chosen if not conditions.relates(guard, selector)] or chosen
        new = conditions.added(condition, target, kind="REPLACED", source=chosen[0].source)
        position = next(i for i, guard in enumerate(copy.guards) if guard is chosen[0])
        copy.guards.insert(position, new)
        _remove(copy, chosen)
        copy.warnings += [f"{conditions.what_is_lost(guard)}; checked in its place: {new.text}" for guard in chosen]
    for name, dimensions in conditions.relaxations(relax):
        matches = [g for g in copy.guards if g.source == name and g.kind == "TENSOR_MATCH"]
        if not matches:
            known = ", ".join(g.source for g in copy.guards if g.kind == "TENSOR_MATCH")
            raise ValueError(f"no guard on the sizes of {name}: there are such guards on {known or 'nothing'}")
        for guard in matches:
            position = next(i for i, g in enumerate(copy.guards) if g is guard)
            copy.guards[position] = conditions.relaxed(guard, dimensions)
            copy.warnings.append(conditions.what_is_loosened(guard, dimensions))
    for condition in _several(add):
        copy.guards.append(conditions.added(condition, target))


def _drop(copy: CacheEntry, original: Sequence[Guard], selector: Any) -> None:
    chosen = [guard for guard in conditions.select(original, selector) if any(guard is g for g in copy.guards)]
    by_value = isinstance(selector, str) and not any(selector in (guard.text, guard.expression) for guard in chosen)
    for guard in chosen:
        because = selector if by_value and conditions.relates(guard, selector) else None
        copy.warnings.append(conditions.what_is_lost(guard, because))
        left = conditions.without_members(guard, selector, original) if because else None
        if left is not None:
            position = next(i for i, known in enumerate(copy.guards) if known is guard)
            copy.guards[position] = left
            copy.warnings[-1] += f"; {' and '.join(left.members)} are still compared"
    _remove(copy, chosen)


def _remove(copy: CacheEntry, gone: Sequence[Guard]) -> None:
    copy.guards = [guard for guard in copy.guards if all(guard is not removed for removed in gone)]


def _several(given: Any) -> list[Any]:
    if isinstance(given, (str, int, Guard)) or callable(given):
        return [given]
    return list(given)


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    pairs = list(given.items()) if isinstance(given, Mapping) else list(given)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"replace= takes pairs of a guard and its replacement, not {pair!r}")
    return [(first, second) for first, second in pairs]
