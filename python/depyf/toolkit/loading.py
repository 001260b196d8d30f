"""Loads a cache entry from the parts of its file, which `depyf.toolkit.entry_file` reads."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from depyf import _core, weak
from depyf.compat import dynamo, installed
from depyf.decompilation import PROVED
from depyf.recompile import compile_checked
from depyf.toolkit import conditions, portable, saving
from depyf.toolkit.conditions import AddedGuard
from depyf.toolkit.edits import Text
from depyf.toolkit.entries import CacheEntry, target_of
from depyf.toolkit.entry_file import Condition, Parts, Resumed, read
from depyf.toolkit.saving import FORMAT
from depyf.toolkit.target import Target, why_refused
from depyf.toolkit.validation import check_code, unknown_names


def load_entry(
    path: str | Path, fn: Any = None, *, bind: Mapping[str, Any] | None = None, incomplete: bool = False
) -> CacheEntry:
    """Returns the entry in a file that `CacheEntry.save` wrote. The file may have been written by this process, or by
    another process with the same Python and PyTorch.

    The following example saves an entry, loads the entry again, and runs its code.

        compiled(x)  # Dynamo compiles the function.
        depyf.cache_entries(compiled)[0].save("entry.py")  # This saves the first entry of the function.
        print(depyf.load_entry("entry.py").run(x))  # This loads the entry again, and runs its code.

    The names that the code needs are bound to the objects that the file describes, or to the values in `bind`. Graphs
    run as Dynamo captured them, with PyTorch's own operators, without a backend. The loaded entry is not registered
    with Dynamo.

    A file must be trusted like a module: the modules that the file names are imported, its guards run whenever the
    entry is checked, and its functions run whenever the entry is called. Loading a file runs none of its guards and
    functions. A file is refused if it contains a decorator, an annotation, a default value that is no constant, or any
    statement other than functions and the lists and dicts that `save` writes.

    Args:
        path: the path of the file.
        fn: the function that the entry belongs to; by default the function that the file names. `fn` must be passed if
            the function cannot be found by name in a module, or if the entry is for a method of one particular
            instance.
        bind: a mapping from names that the file uses to their values in this process.
        incomplete: if true, guards that cannot be checked in this process are left out, each with a warning; by default
            they raise an exception.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: the file is not Python; the error has the file and the line.
        ValueError: the file is no file of an entry, or another Python or PyTorch wrote it, or it contains a refused
            statement, or its code cannot replace the function's code; the message states which.
        LookupError: the function, or an object that a guard names, does not exist in this process; the message names
            it.
        NameError: the code needs names that neither the file nor `bind` defines; the message lists all of them.
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
        raise NameError(f"{path}: missing for {target.name}: {', '.join(missing)}. Pass them with bind={{...}}")
    written = parts.code.text
    if written.startswith(PROVED):  # The first line is ignored, because the file may have been edited.
        written = f"# loaded from {path}" + written[len(PROVED) :]
    entry = CacheEntry(target, code, "edited", [], parts.entry.get("compile id"), bound, written=written)
    entry.definitions = {name: (bound[name], text.text) for name, text in parts.below.items() if name in bound}
    _add_guards(entry, parts, incomplete)
    entry.resumed = [
        loaded for resumed in parts.resumed if (loaded := _load_resumed(resumed, parts, entry, made_once)) is not None
    ]
    return entry


def _check_made_by(parts: Parts) -> None:
    """Refuses a file of another format, and a file that another version of Python or PyTorch wrote, because the same
    bytecode and guards can have another meaning in another version.

    Raises:
        ValueError: the file has another format, or another Python or PyTorch wrote it; the message has both versions.
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
    """Returns the entry of a resume function. If an object that the entry of the resume function needs does not exist,
    returns None and adds a warning to `entry`; Dynamo then compiles the resume function again."""
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
            raise LookupError(f"{parts.path}: missing {error}: pass the function as fn=") from None
    target = target_of(fn)
    instance = parts.entry.get("instance")
    if instance and target.instance is None:
        raise LookupError(f"{parts.path}: the entry is for one {instance}: pass its method as fn=")
    return target


def _bound(
    parts: Parts, needed: Mapping[str, str], target: Target, given: dict[str, Any], made_once: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Returns a pair (bound, missing). `bound` maps names to their values. `missing` has a phrase for each name without
    a value.

    Args:
        needed: a mapping from names to the descriptions of their values in the file.
        made_once: the functions of the file that were created before; functions that this call creates are added.
            Dynamo identifies a resume function by its code object, so each resume function is created only once.
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
            made_once[name] = function if installed.is_resume_name(name) else dynamo.not_compiled(function)
        bound[name] = made_once[name]
    return bound, missing


def _function(text: Text, name: str, target: Target, bound: dict[str, Any]) -> Any:
    """Returns the function that a source text defines. The function is assembled from its code object and its default
    values; the definition itself is not executed."""
    tree = ast.parse(text.padded, text.filename)
    module = compile(tree, text.filename, "exec", dont_inherit=True)
    code = next(const for const in module.co_consts if isinstance(const, types.CodeType) and const.co_name == name)
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    # The new function has the globals of the target's module, so that later changes of these globals affect it. The
    # names in `bound` become constants in the code of the new function.
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
    """Returns the guard for an element of the list GUARDS in the file of an entry. If the element is malformed, the
    exception names the element's line in the file."""
    try:
        return conditions.added(check, target)
    except SyntaxError as error:
        raise SyntaxError(error.msg, (path, condition.line, 0, condition.text)) from None
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}, line {condition.line}: {error}") from None
