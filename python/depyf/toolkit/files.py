"""One entry as one Python file: written for people to edit and for other processes to load.

    ENTRY = {...}     which function it is of
    NAMES = {...}     what the code needs besides what the function's module and Python have
    GUARDS = [...]    expressions over L and G
    def ...           graphs and resume functions, as far as they can be written
    def ...           the code

Reading runs nothing of it but the code of graphs and resume functions, which stand for names.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depyf import decompilation, names
from depyf.compat import bytecode, dynamo
from depyf.decompilation import PROVED
from depyf.guards import Guard
from depyf.recompile import compile_checked, signature
from depyf.toolkit import conditions, portable
from depyf.toolkit.conditions import AddedGuard
from depyf.toolkit.edits import Text
from depyf.toolkit.entries import CacheEntry, target_of
from depyf.toolkit.target import Target, why_refused
from depyf.toolkit.validation import check_code, unknown_names

FORMAT = 1
_PARTS = ("ENTRY", "NAMES", "GUARDS")
_HEAD = """\
# {kind} entry of {name}: what Dynamo runs in the place of the function, and when.
#
# ENTRY says which function it is of. It has to stay as it is.
# NAMES says what the code needs besides the function's own globals: "below" is defined further down.
# GUARDS must all hold for a call to take this entry: expressions over L (the locals by name), G (the globals) and torch.
#   Take lines away, change them, add some. only_here(...) is a guard that has no Python form.
# The last function is the code itself. Its arguments and free variables have to stay as they are.
"""


@dataclass(frozen=True)
class Condition:
    """One element of GUARDS."""

    line: int
    text: str
    form: str
    """"expression", or the name of what is called: "call" or "only_here"."""


@dataclass(frozen=True)
class Parts:
    """What a file says."""

    path: str
    entry: dict[str, Any]
    names: dict[str, str]
    guards: list[Condition]
    below: dict[str, Text]
    code: Text


def save(entry: CacheEntry, path: Path) -> None:
    """See `CacheEntry.save`."""
    path.write_text(text_of(entry, names_of(entry), portable_forms=True), encoding="utf-8")


def text_of(entry: CacheEntry, needed: Mapping[str, tuple[str, str]], *, portable_forms: bool) -> str:
    """The file.

    Args:
        needed: name -> (what NAMES says of it, its definition).
        portable_forms: write guards so that other processes can read them.
    """
    target, source = entry.target, entry.source
    kind = f"{entry.kind.capitalize()} cache"
    out = [_HEAD.format(kind=kind, name=target.name)]
    out += [f"# Warning: {one}\n" for one in entry.warnings]
    first = next((one for one in entry.guards if one.kind == "INSTANCE"), None)
    instance = first is not None or target.instance is not None
    about = {
        "format": FORMAT,
        "function": target.name,
        "module": target.globals.get("__name__"),
        "arguments": signature(target.code),
        "free variables": list(target.code.co_freevars),
        "compile id": entry.compile_id,
        "instance": type(target.instance).__qualname__ if instance and target.instance is not None else None,
        "python": ".".join(map(str, sys.version_info[:2])),
        "torch": _torch_version(),
    }
    out.append(_literal("ENTRY", about))
    out.append(_literal("NAMES", {name: said for name, (said, _) in needed.items()}))
    out.append("GUARDS = [\n" + "".join(_guard_lines(entry, portable_forms)) + "]\n")
    out += [f"\n\n{definition.strip()}\n" for _, definition in needed.values() if definition]
    return "".join([*out, f"\n\n{source.strip()}\n"])


def _torch_version() -> str:
    import torch

    return str(torch.__version__)


def _literal(name: str, value: dict[str, Any]) -> str:
    return f"{name} = {{\n" + "".join(f"    {key!r}: {one!r},\n" for key, one in value.items()) + "}\n"


def _guard_lines(entry: CacheEntry, portable_forms: bool) -> Iterator[str]:
    for guard, text in forms(entry, portable_forms):
        said = " ".join(guard.kind.split())
        if guard.source:
            said += f" on {guard.source}"
        if guard.line is not None:
            said += f", for {' '.join(str(guard.line).split())}"
        yield f"    # {said}\n    {text},\n"


def forms(entry: CacheEntry, portable_forms: bool) -> Iterator[tuple[Guard, str]]:
    """Each guard with the element of GUARDS that stands for it. That a method belongs to one instance is none."""
    for guard in entry.guards:
        if guard.kind == "INSTANCE":
            continue
        text = portable.expression(guard, entry) if portable_forms else guard.expression
        if isinstance(guard, AddedGuard) and guard.function is not None and portable_forms:
            where = portable.place(guard.function)
            text = None if where is None else f"call({where!r})"
        yield guard, text if text is not None else f"only_here({' '.join(guard.text.split())!r})"


def names_of(entry: CacheEntry) -> dict[str, tuple[str, str]]:
    """Name in the source -> (what NAMES says of it, its definition or ""), for all that another process has not."""
    target = entry.target
    short = names.short_names(entry.code)
    graphs = {one.full_name: one for one in entry.graphs}
    resumes = {one.full_name: one for one in entry.resume_functions}
    own = {name for one in names.nested_codes(entry.code) for name in bytecode.global_names(one)}
    found: dict[str, tuple[str, str]] = {}

    def add(name: str, value: object) -> None:
        if name not in found:
            found[name] = (portable.described(value, target), "")

    for full in sorted(own & entry.bound.keys()):
        name, value = short.get(full, full), entry.bound[full]
        written: tuple[str, Mapping[str, object]] | None = None
        definition = entry.definitions.get(full)
        if definition is not None and definition[0] is value:
            found[name] = ("below", definition[1])
            continue
        if full in graphs and not _is_replaced(value):
            module = graphs[full].graph_module
            written = portable.graph_source(module, name) if module is not None else None
            what = "missing the graph, which holds objects of its own or is gone"
        elif full in resumes and resumes[full].function is not None:
            made = decompilation.decompile(resumes[full].code, name=name)
            constants = dict(constants_in(made.source, resumes[full].code))
            written = (made.source, constants) if made.proved else None
            what = f"missing the resume function, whose source is not proved: {made.reason}"
        elif full in resumes:
            what = "missing the resume function, which has free variables"
        else:
            add(name, getattr(value, "__wrapped__", value) if full in graphs else value)
            continue
        if written is None:
            found[name] = (what, "")
            continue
        found[name] = ("below", written[0])
        for inner, object_ in written[1].items():
            if target.globals.get(inner, found) is not object_:
                add(inner, object_)
    if entry.written is None:
        for name, value in constants_in(entry.source, entry.code):
            add(name, value)
    for name in sorted(entry.bound.keys() - own):  # what definitions need, and constants of source that was edited
        if entry.definitions or (name.startswith("__const_") and name in entry.source):
            add(name, entry.bound[name])
    return found


def _is_replaced(value: Any) -> bool:
    """Was the graph's function put in its place by an edit?"""
    return getattr(getattr(value, "__wrapped__", value), "__name__", "") in ("call", "call_with_kernels")


def constants_in(source: str, code: types.CodeType) -> list[tuple[str, object]]:
    """What each `__const_N` in the source of `code` stands for."""
    if "__const_" not in source:
        return []
    from depyf import _core

    paths = _core.decompile(names.rename(code, names.short_names(code))).constants
    return [(name, names.constant_at(code, path)) for name, path in paths.items()]


# Reading


def read(path: Path) -> Parts:
    """What a file says. Runs none of it.

    Raises:
        OSError: it cannot be read.
        SyntaxError: it is not Python; carries file and line.
        ValueError: a part is missing or not as it has to be; the message names file and line.
    """
    return read_text(path.read_text(encoding="utf-8"), str(path))


def read_text(text: str, path: str = "<entry>") -> Parts:
    """`read` for a text."""
    tree = ast.parse(text, path)
    found: dict[str, ast.Assign] = {}
    functions: list[ast.FunctionDef] = []
    for node in tree.body:
        name = node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None
        if isinstance(node, ast.Assign) and name in _PARTS:
            found[name] = node
        elif isinstance(node, ast.FunctionDef):
            functions.append(node)
        elif not isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_docstring(node):
            raise ValueError(f"{path}, line {node.lineno}: only {', '.join(_PARTS)} and functions stand in such a file")
    for part in _PARTS:
        if part not in found:
            raise ValueError(f"{path}: {part} is missing: this is not a file of a cache entry")
    if not functions:
        raise ValueError(f"{path}: the code is missing: the last function in the file")
    lines = text.splitlines(keepends=True)
    starts = [max((node.end_lineno or 0) for node in tree.body if node.lineno < one.lineno) for one in functions]
    texts = [
        Text("".join(lines[start : one.end_lineno]).lstrip("\n"), path, _first(lines, start))
        for start, one in zip(starts, functions)
    ]
    return Parts(
        path,
        _dictionary(found["ENTRY"], path),
        _dictionary(found["NAMES"], path),
        _guards(found["GUARDS"], text, path),
        {one.name: part for one, part in zip(functions[:-1], texts)},
        texts[-1],
    )


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _first(lines: Sequence[str], start: int) -> int:
    """The first line from `start` on, from 0, that is not blank; counted from 1."""
    while start < len(lines) and not lines[start].strip("\n"):
        start += 1
    return start + 1


def _dictionary(node: ast.Assign, path: str) -> dict[str, Any]:
    try:
        value = ast.literal_eval(node.value)
    except (ValueError, TypeError):
        value = None
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{path}, line {node.lineno}: {ast.unparse(node.targets[0])} is not a dict of plain values")
    return value


def _guards(node: ast.Assign, text: str, path: str) -> list[Condition]:
    if not isinstance(node.value, (ast.List, ast.Tuple)):
        raise ValueError(f"{path}, line {node.lineno}: GUARDS is not a list")
    out = []
    for one in node.value.elts:
        form = "expression"
        said = ast.get_source_segment(text, one) or ast.unparse(one)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in ("call", "only_here"):
            form = one.func.id
            argument = one.args[0] if len(one.args) == 1 else None
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                raise ValueError(f"{path}, line {one.lineno}: {form} takes one text")
            said = argument.value
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            said = one.value
        out.append(Condition(one.lineno, said, form))
    return out


def load_entry(
    path: str | Path, fn: Any = None, *, bind: Mapping[str, Any] | None = None, incomplete: bool = False
) -> CacheEntry:
    """The entry that `CacheEntry.save` wrote, in this process or another, for any Python.

    Names are bound to what the file says of them, or to what is given. Graphs run as they were captured, by PyTorch's own
    operators. Nothing is registered.

    Args:
        path: the file.
        fn: the function that it is of; if not given, the one of that name in that module. Needed for functions that no
            module leads to, and for methods of one instance.
        bind: names of the file, with what they stand for here.
        incomplete: leave out the guards that say nothing here, and warn of each, instead of raising.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: it is not Python; carries file and line.
        ValueError: it is no file of an entry, or its code cannot stand in for the function's.
        LookupError: the function, or the object behind a guard, is missing; the message says which.
        NameError: names are missing; the message lists all of them.
        TypeError: there is no Python function behind `fn`.
    """
    parts = read(Path(path))
    if parts.entry.get("format") != FORMAT:
        raise ValueError(f"{path}: format {parts.entry.get('format')!r} is not known: this is {FORMAT}")
    target = _target(parts, fn)
    if refused := why_refused(target.code):
        raise ValueError(refused)
    given = dict(bind or {})
    bound, missing = _bound(parts, target, given)
    made = compile_checked(parts.code.padded, target.code, constants_of=target.code, filename=parts.path)
    code = check_code(made, target)
    missing += [
        f"{name} (no such global)" for name in unknown_names(code, target.code, target, {**bound, **parts.names})
    ]
    if missing:
        raise NameError(f"{path}: missing for {target.name}: {', '.join(missing)}. Give them with bind={{...}}")
    written = parts.code.text
    if written.startswith(PROVED):  # the file may have been edited
        written = f"# loaded from {path}" + written[len(PROVED) :]
    entry = CacheEntry(target, code, "edited", [], parts.entry.get("compile id"), bound, written=written)
    entry.definitions = {name: (bound[name], text.text) for name, text in parts.below.items() if name in bound}
    _add_guards(entry, parts, incomplete)
    if parts.entry.get("torch") != _torch_version():
        entry.warnings.append(f"the guards are those of PyTorch {parts.entry.get('torch')}: this is {_torch_version()}")
    return entry


def _target(parts: Parts, fn: Any) -> Target:
    name, module = parts.entry.get("function"), parts.entry.get("module")
    if fn is None:
        try:
            fn = portable.find(f"{module}:{name}")
        except LookupError as error:
            raise LookupError(f"{parts.path}: missing {error}: give the function as fn=") from None
    target = target_of(fn)
    instance = parts.entry.get("instance")
    if instance and target.instance is None:
        raise LookupError(f"{parts.path}: the entry is for one {instance}: give its method as fn=")
    return target


def _bound(parts: Parts, target: Target, given: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """(names with what they stand for, those that are missing, in words)"""
    bound: dict[str, Any] = {}
    missing = []
    below = []
    for name, said in parts.names.items():
        if name in given:
            continue
        if said == "below" and name in parts.below:
            below.append(name)
            continue
        try:
            bound[name] = portable.value_of(str(said), target)
        except LookupError as error:
            missing.append(f"{name} ({error})")
    bound |= given
    for name in below:
        function = _function(parts.below[name], name, target, bound)
        bound[name] = function if dynamo.is_resume_name(name) else dynamo.not_compiled(function)
    return bound, missing


def _function(text: Text, name: str, target: Target, bound: dict[str, Any]) -> Any:
    tree = ast.parse(text.padded, text.filename)
    namespace = {**target.globals, **bound}
    exec(compile(tree, text.filename, "exec", dont_inherit=True), namespace)
    made = namespace[name]
    # The function's own globals, so that what the module does later is seen; the names that are bound are constants.
    code = names.map_codes(made.__code__, lambda one: bytecode.bind_names_to_constants(one, bound))
    return types.FunctionType(code, target.globals, name, made.__defaults__)


def _add_guards(entry: CacheEntry, parts: Parts, incomplete: bool) -> None:
    target = entry.target
    if parts.entry.get("instance") or target.instance is not None:
        entry.guards.append(conditions.only_for(target.instance, target))
    for one in parts.guards:
        keep: list[object] = []
        try:
            if one.form == "only_here":
                raise LookupError(f"a guard that had no Python form: {one.text}")
            what: Any
            if one.form == "call":
                what = portable.find(one.text)
            else:
                what = portable.with_identities(one.text, target, keep)
        except LookupError as error:
            if not incomplete:
                raise LookupError(
                    f"{parts.path}, line {one.line}: missing {error}. incomplete=True leaves the guard out"
                ) from None
            entry.warnings.append(f"not checked here: {one.text}: missing {error}")
            continue
        guard = added_at(one, what, target, parts.path)
        guard.kept = keep
        entry.guards.append(guard)


def added_at(one: Condition, what: Any, target: Target, path: str) -> AddedGuard:
    """The guard for an element of GUARDS; errors name its line."""
    try:
        return conditions.added(what, target)
    except SyntaxError as error:
        raise SyntaxError(error.msg, (path, one.line, 0, one.text)) from None
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}, line {one.line}: {error}") from None
