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
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from depyf import _core, weak
from depyf.compat import dynamo
from depyf.decompilation import PROVED
from depyf.recompile import compile_checked
from depyf.toolkit import conditions, portable, saving
from depyf.toolkit.conditions import AddedGuard
from depyf.toolkit.edits import Text
from depyf.toolkit.entries import CacheEntry, target_of
from depyf.toolkit.saving import FORMAT, RESUMED
from depyf.toolkit.target import Target, why_refused
from depyf.toolkit.validation import check_code, unknown_names

_PARTS = ("ENTRY", "NAMES", "GUARDS")


Form = Literal["expression", "call", "only_here"]


@dataclass(frozen=True)
class Condition:
    """One element of GUARDS."""

    line: int
    text: str
    form: Form
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


def read(path: Path) -> Parts:
    """Returns the parts of a file. Runs none of it.

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
        if isinstance(node, ast.Assign) and name in (*_PARTS, RESUMED):
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
        _resumed(assignments[RESUMED], path) if RESUMED in assignments else [],
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
        raise ValueError(f"{path}, line {node.lineno}: {RESUMED} is not a list")
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
    """Returns the first line from `start` on, from 0, that is not blank; counted from 1."""
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
        form: Form = "expression"
        condition_text = ast.get_source_segment(text, element) or ast.unparse(element)
        if (
            isinstance(element, ast.Call)
            and isinstance(element.func, ast.Name)
            and element.func.id in ("call", "only_here")
        ):
            form = "call" if element.func.id == "call" else "only_here"
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
    """Returns the entry that `CacheEntry.save` wrote, in this process or another with the same Python and PyTorch.

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
    made_by, here = (about.get("python"), about.get("torch")), (saving.python_version(), saving.torch_version())
    if made_by[0] != here[0] or str(made_by[1]).partition("+")[0] != here[1].partition("+")[0]:
        raise ValueError(
            f"{parts.path}: made by Python {made_by[0]} and PyTorch {made_by[1]}, and this is Python {here[0]} and PyTorch "
            f"{here[1]}: save it anew with these"
        )


def _load_resumed(resumed: Resumed, parts: Parts, entry: CacheEntry, made_once: dict[str, Any]) -> CacheEntry | None:
    """Returns the entry of a resume function; None, and a warning, if something that it needs is not here: it is
    compiled again then."""
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
    """Returns (names with the objects that they stand for, a phrase for each name that is missing).

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
    """Returns the function that a text defines. The definition is not run: its parts are put together here."""
    tree = ast.parse(text.padded, text.filename)
    module = compile(tree, text.filename, "exec", dont_inherit=True)
    code = next(const for const in module.co_consts if isinstance(const, types.CodeType) and const.co_name == name)
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    # The function's own globals, so that what the module does later is seen; the names that are bound are constants.
    code = _core.bind_names(code, bound)
    defaults = tuple(ast.literal_eval(default) for default in definition.args.defaults)
    function = types.FunctionType(code, target.globals, name, defaults or None)
    pairs = zip(definition.args.kwonlyargs, definition.args.kw_defaults)
    function.__kwdefaults__ = {
        argument.arg: ast.literal_eval(default) for argument, default in pairs if default is not None
    } or None
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
    """Returns the guard for an element of GUARDS; errors name its line."""
    try:
        return conditions.added(check, target)
    except SyntaxError as error:
        raise SyntaxError(error.msg, (path, condition.line, 0, condition.text)) from None
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}, line {condition.line}: {error}") from None
