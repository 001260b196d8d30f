"""One entry as one Python file: written for people to edit and for other processes to load.

    ENTRY = {...}     which function it is of, and which Python and PyTorch made it
    NAMES = {...}     what the code needs besides what the function's module and Python have
    GUARDS = [...]    expressions over L and G
    RESUMED = [...]   the entries of resume functions: as the above, with the name of the function that is the code
    def ...           graphs, resume functions and the code of their entries, as far as they can be written
    def ...           the code

Reading runs nothing of the file: functions are compiled, and not made by running their definitions. The modules that NAMES and
guards name are imported, and what is loaded runs when it is called, so a file is to be trusted as a module is.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depyf import decompilation, names, report, weak
from depyf.compat import bytecode, dynamo
from depyf.decompilation import PROVED
from depyf.guards import Guard
from depyf.recompile import compile_checked, signature
from depyf.toolkit import conditions, portable
from depyf.toolkit.conditions import AddedGuard
from depyf.toolkit.edits import REPLACEMENT, Text
from depyf.toolkit.entries import CacheEntry, ResumeFunction, cache_entries, target_of
from depyf.toolkit.target import Target, why_refused
from depyf.toolkit.validation import check_code, unknown_names

FORMAT = 1
_PARTS = ("ENTRY", "NAMES", "GUARDS")
_RESUMED = "RESUMED"
_HEAD = """\
# {kind} entry of {name}: what Dynamo runs in the place of the function, and when.
#
# ENTRY says which function it is of. It has to stay as it is.
# NAMES says what the code needs besides the function's own globals: "below" is defined further down.
# GUARDS must all hold for a call to take this entry: expressions over L (the locals by name), G (the globals) and torch.
#   Take lines away, change them, add some. only_here(...) is a guard that has no Python form.
# RESUMED has the entries of the functions that go on after graph breaks, in the order in which they are tried.
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
    resumed: list[Resumed] = field(default_factory=list)


@dataclass(frozen=True)
class Resumed:
    """One element of RESUMED: an entry of a resume function."""

    line: int
    function: str
    """The name of the resume function in the file."""
    code: str
    """The name of the function that is the entry's code."""
    compile_id: str | None
    names: dict[str, str]
    guards: list[Condition]


def save(entry: CacheEntry, path: Path) -> None:
    """See `CacheEntry.save`."""
    needed = names_of(entry)
    resumed, left_out = _resumed_of(entry, needed)
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
    entry: CacheEntry, needed: dict[str, tuple[str, str]]
) -> tuple[list[tuple[str, str, CacheEntry, dict[str, tuple[str, str]]]], list[str]]:
    """The entries of the resume functions that an entry leads to, and why some are not among them.

    Args:
        needed: what the file of the entry defines: (name -> what NAMES says of it, its definition). Definitions that the
            entries need are added.

    Returns:
        (the name of the resume function, a name for the code, the entry, what it needs by name), and sentences.
    """
    resumed: list[tuple[str, str, CacheEntry, dict[str, tuple[str, str]]]] = []
    left_out: list[str] = []
    done: set[str] = set()
    todo: list[tuple[CacheEntry, Mapping[str, tuple[str, str]]]] = [(entry, needed)]
    defined = {name: definition for name, (_, definition) in needed.items() if definition}
    for outer, outer_needs in todo:  # grows on the way
        short = names.short_names(outer.code)
        for resume in outer.resume_functions:
            name = short.get(resume.full_name, resume.full_name)
            if name in done or outer_needs.get(name, ("",))[0] != "below":
                continue
            done.add(name)
            for number, inner in enumerate(_entries_of(outer, resume)):
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


def _entries_of(outer: CacheEntry, resume: ResumeFunction) -> list[CacheEntry]:
    loaded = [
        entry
        for entry in outer.resumed
        if resume.function is not None and entry.target.code is resume.function.__code__
    ]
    return loaded or [entry for entry in cache_entries(resume) if entry.kind == "ordinary"]


def _why_not_portable(entry: CacheEntry, needs: Mapping[str, tuple[str, str]], defined: Mapping[str, str]) -> str:
    """Why an entry of a resume function cannot be written; "" where it can."""
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
    """The file.

    Args:
        needed: name -> (what NAMES says of it, its definition).
        portable_forms: write guards so that other processes can read them.
        resumed: entries of resume functions: (the name of the function, a name for the code, the entry, what it needs).
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
        "python": _python_version(),
        "torch": _torch_version(),
    }
    parts.append(_literal("ENTRY", about))
    parts.append(_literal("NAMES", {name: place for name, (place, _) in needed.items()}))
    parts.append("GUARDS = [\n" + "".join(_guard_lines(entry, portable_forms)) + "]\n")
    definitions = {name: definition for name, (_, definition) in needed.items() if definition}
    if resumed:
        parts.append(f"{_RESUMED} = [\n" + "".join(_resumed_lines(resumed)) + "]\n")
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
    """The source of one function, which gets another name."""
    return re.sub(r"^def \w+\(", f"def {name}(", source, count=1, flags=re.MULTILINE)


def _torch_version() -> str:
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
    graphs = {graph.full_name: graph for graph in entry.graphs}
    resumes = {resume.full_name: resume for resume in entry.resume_functions}
    own = {name for nested in names.nested_codes(entry.code) for name in bytecode.global_names(nested)}
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
        # What keeps Dynamo from a function hands on its attributes.
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
    for name in sorted(entry.bound.keys() - own):  # what definitions need, and constants of source that was edited
        if entry.definitions or (name.startswith("__const_") and name in entry.source):
            add(name, entry.bound[name])
    return places


def _is_graph(value: Any) -> bool:
    return hasattr(value, "graph") and hasattr(value, "recompile")


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
    assignments: dict[str, ast.Assign] = {}
    functions: list[ast.FunctionDef] = []
    for node in tree.body:
        name = node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None
        if isinstance(node, ast.Assign) and name in (*_PARTS, _RESUMED):
            assignments[name] = node
        elif isinstance(node, ast.FunctionDef):
            functions.append(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            raise ValueError(
                f"{path}, line {node.lineno}: an import has no effect here: NAMES says what a name stands for "
                "('object module:name')"
            )
        elif not _is_docstring(node):
            raise ValueError(f"{path}, line {node.lineno}: only {', '.join(_PARTS)} and functions stand in such a file")
    for function in functions:
        _check_definition(function, path)
    for part in _PARTS:
        if part not in assignments:
            raise ValueError(f"{path}: {part} is missing: this is not a file of a cache entry")
    if not functions:
        raise ValueError(f"{path}: the code is missing: the last function in the file")
    lines = text.splitlines(keepends=True)
    starts = [
        max((node.end_lineno or 0) for node in tree.body if node.lineno < function.lineno) for function in functions
    ]
    texts = [
        Text("".join(lines[start : function.end_lineno]).lstrip("\n"), path, _first(lines, start))
        for start, function in zip(starts, functions)
    ]
    return Parts(
        path,
        _dictionary(assignments["ENTRY"], path),
        _dictionary(assignments["NAMES"], path),
        _guards(assignments["GUARDS"], text, path),
        {function.name: part for function, part in zip(functions[:-1], texts)},
        texts[-1],
        _resumed(assignments[_RESUMED], path) if _RESUMED in assignments else [],
    )


def _check_definition(function: ast.FunctionDef, path: str) -> None:
    """Refuses what would run when a function is defined, and has no part in what the function does.

    Raises:
        ValueError: the message names file, line and what it is.
    """

    def refuse(node: ast.AST, problem: str) -> None:
        line = getattr(node, "lineno", function.lineno)
        raise ValueError(f"{path}, line {line}: {function.name} has {problem}: functions in such a file have none")

    for decorator in function.decorator_list:
        refuse(decorator, "a decorator")
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    annotations = [argument.annotation for argument in every if argument is not None]
    for annotation in (*annotations, function.returns):
        if annotation is not None:
            refuse(annotation, "an annotation")
    for parameter in getattr(function, "type_params", ()):
        refuse(parameter, "a type parameter")
    for default in (*arguments.defaults, *arguments.kw_defaults):
        try:
            _ = None if default is None else ast.literal_eval(default)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            assert default is not None
            refuse(default, "a default value that is no constant")


def _resumed(node: ast.Assign, path: str) -> list[Resumed]:
    if not isinstance(node.value, (ast.List, ast.Tuple)):
        raise ValueError(f"{path}, line {node.lineno}: {_RESUMED} is not a list")
    resumed = []
    for element in node.value.elts:
        try:
            fields = ast.literal_eval(element)
            function, code, compile_id = fields["function"], fields["code"], fields["compile id"]
            needed, conditions_said = dict(fields["names"]), list(fields["guards"])
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{path}, line {element.lineno}: this is no entry of a resume function") from None
        listed = [Condition(element.lineno, str(text), "expression") for text in conditions_said]
        resumed.append(Resumed(element.lineno, str(function), str(code), compile_id, needed, listed))
    return resumed


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
    listed = []
    for element in node.value.elts:
        form = "expression"
        condition_text = ast.get_source_segment(text, element) or ast.unparse(element)
        if (
            isinstance(element, ast.Call)
            and isinstance(element.func, ast.Name)
            and element.func.id in ("call", "only_here")
        ):
            form = element.func.id
            argument = element.args[0] if len(element.args) == 1 else None
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                raise ValueError(f"{path}, line {element.lineno}: {form} takes one text")
            condition_text = argument.value
        elif isinstance(element, ast.Constant) and isinstance(element.value, str):
            condition_text = element.value
        listed.append(Condition(element.lineno, condition_text, form))
    return listed


def load_entry(
    path: str | Path, fn: Any = None, *, bind: Mapping[str, Any] | None = None, incomplete: bool = False
) -> CacheEntry:
    """The entry that `CacheEntry.save` wrote, in this process or another with the same Python and PyTorch.

    Names are bound to what the file says of them, or to what is given. Graphs run as they were captured, by PyTorch's own
    operators. Nothing is registered.

    A file is to be trusted as a module is: the modules that it names are imported, its guards run at every check, and its
    functions at every call. Loading runs none of them; decorators, annotations, default values that are no constants, and
    statements other than functions and the file's own parts are refused.

    Args:
        path: the file.
        fn: the function that it is of; if not given, the one of that name in that module. Needed for functions that no
            module leads to, and for methods of one instance.
        bind: names of the file, with what they stand for here.
        incomplete: leave out the guards that say nothing here, and warn of each, instead of raising.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: it is not Python; carries file and line.
        ValueError: it is no file of an entry, another Python or PyTorch made it, it holds what is refused, or its code cannot
            stand in for the function's; the message says which.
        LookupError: the function, or the object behind a guard, is missing; the message says which.
        NameError: names are missing; the message lists all of them.
        TypeError: there is no Python function behind `fn`.
    """
    parts = read(Path(path))
    _check_made_by(parts)
    target = _target(parts, fn)
    if refused := why_refused(target.code):
        raise ValueError(refused)
    given = dict(bind or {})
    made_once: dict[str, Any] = {}
    bound, missing = _bound(parts, parts.names, target, given, made_once)
    compiled = compile_checked(parts.code.padded, target.code, constants_of=target.code, filename=parts.path)
    code = check_code(compiled, target)
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
    entry.resumed = [
        loaded for resumed in parts.resumed if (loaded := _load_resumed(resumed, parts, entry, made_once)) is not None
    ]
    return entry


def _check_made_by(parts: Parts) -> None:
    """Refuses a file of another format, Python or PyTorch: bytecode and guards mean something else there.

    Raises:
        ValueError: the message has both versions.
    """
    about = parts.entry
    if about.get("format") != FORMAT:
        raise ValueError(f"{parts.path}: format {about.get('format')!r} is not known: this is {FORMAT}")
    made_by, here = (about.get("python"), about.get("torch")), (_python_version(), _torch_version())
    if made_by[0] != here[0] or str(made_by[1]).partition("+")[0] != here[1].partition("+")[0]:
        raise ValueError(
            f"{parts.path}: made by Python {made_by[0]} and PyTorch {made_by[1]}, and this is Python {here[0]} and PyTorch "
            f"{here[1]}: save it anew with these"
        )


def _python_version() -> str:
    return ".".join(map(str, sys.version_info[:2]))


def _load_resumed(resumed: Resumed, parts: Parts, entry: CacheEntry, made_once: dict[str, Any]) -> CacheEntry | None:
    """The entry of a resume function; None, and a warning, if something that it needs is not here: it is compiled again then."""
    function = made_once.get(resumed.function)
    text = parts.below.get(resumed.code)
    where = f"{parts.path}, line {resumed.line}"
    if function is None or text is None:
        raise ValueError(f"{where}: {resumed.function if function is None else resumed.code} is not in the file")
    target = target_of(function)
    bound, missing = _bound(parts, resumed.names, target, {}, made_once)
    compiled = compile_checked(text.padded, target.code, constants_of=target.code, filename=parts.path)
    code = check_code(compiled, target)
    missing += unknown_names(code, target.code, target, bound)
    loaded = CacheEntry(target, code, "edited", [], resumed.compile_id, bound, written=text.text)
    try:
        if missing:
            raise LookupError(", ".join(missing))
        for condition in resumed.guards:
            keep: list[object] = []
            guard = added_at(condition, portable.with_identities(condition.text, target, keep), target, parts.path)
            guard.kept = [weak.reference(kept_object) for kept_object in keep]
            loaded.guards.append(guard)
    except LookupError as error:
        entry.warnings.append(f"{resumed.function} is compiled again: missing {error}")
        return None
    return loaded


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


def _bound(
    parts: Parts, needed: Mapping[str, str], target: Target, given: dict[str, Any], made_once: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """(names with what they stand for, those that are missing, in words)

    Args:
        needed: name -> what the file says of it.
        made_once: the functions of the file that were made for other names, which are added to: Dynamo knows a resume
            function by its code object, so there is one of each.
    """
    bound: dict[str, Any] = {}
    missing = []
    below = []
    for name, place in needed.items():
        if name in given:
            continue
        if place == "below" and name in parts.below:
            below.append(name)
            continue
        try:
            bound[name] = portable.value_of(str(place), target)
        except LookupError as error:
            missing.append(f"{name} ({error})")
    bound |= given
    for name in below:
        if name not in made_once:
            function = _function(parts.below[name], name, target, bound)
            made_once[name] = function if dynamo.is_resume_name(name) else dynamo.not_compiled(function)
        bound[name] = made_once[name]
    return bound, missing


def _function(text: Text, name: str, target: Target, bound: dict[str, Any]) -> Any:
    """The function that a text defines. The definition is not run: its parts are put together here."""
    tree = ast.parse(text.padded, text.filename)
    module = compile(tree, text.filename, "exec", dont_inherit=True)
    code = next(const for const in module.co_consts if isinstance(const, types.CodeType) and const.co_name == name)
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    # The function's own globals, so that what the module does later is seen; the names that are bound are constants.
    code = names.map_codes(code, lambda nested: bytecode.bind_names_to_constants(nested, bound))
    defaults = tuple(ast.literal_eval(default) for default in definition.args.defaults)
    function = types.FunctionType(code, target.globals, name, defaults or None)
    pairs = zip(definition.args.kwonlyargs, definition.args.kw_defaults)
    function.__kwdefaults__ = {
        argument.arg: ast.literal_eval(default) for argument, default in pairs if default is not None
    } or None  # type: ignore[assignment]
    return function


def _add_guards(entry: CacheEntry, parts: Parts, incomplete: bool) -> None:
    target = entry.target
    if parts.entry.get("instance") or target.instance is not None:
        entry.guards.append(conditions.only_for(target.instance, target))
    for condition in parts.guards:
        keep: list[object] = []
        try:
            if condition.form == "only_here":
                raise LookupError(f"a guard that had no Python form: {condition.text}")
            check: Any
            if condition.form == "call":
                check = portable.find(condition.text)
            else:
                check = portable.with_identities(condition.text, target, keep)
        except LookupError as error:
            if not incomplete:
                raise LookupError(
                    f"{parts.path}, line {condition.line}: missing {error}. incomplete=True leaves the guard out"
                ) from None
            entry.warnings.append(f"not checked here: {condition.text}: missing {error}")
            continue
        guard = added_at(condition, check, target, parts.path)
        guard.kept = [weak.reference(kept_object) for kept_object in keep]
        entry.guards.append(guard)


def added_at(condition: Condition, check: Any, target: Target, path: str) -> AddedGuard:
    """The guard for an element of GUARDS; errors name its line."""
    try:
        return conditions.added(check, target)
    except SyntaxError as error:
        raise SyntaxError(error.msg, (path, condition.line, 0, condition.text)) from None
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}, line {condition.line}: {error}") from None
