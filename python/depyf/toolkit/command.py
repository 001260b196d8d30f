"""The command `depyf edit`: runs a program, and then opens a cache entry of one of its functions in an editor."""

from __future__ import annotations

import argparse
import ast
import code
import importlib
import sys
import traceback
import types
from pathlib import Path
from typing import Any

from depyf.toolkit.editor import edit
from depyf.toolkit.entries import CacheEntry, cache_entries, new_entry
from depyf.toolkit.loading import load_entry
from depyf.toolkit.registration import Registration

_MISTAKES = (SyntaxError, NameError, ValueError, LookupError, TypeError, OSError, RuntimeError, NotImplementedError)


def run(parsed: argparse.Namespace) -> int:
    """Executes the command. Returns the exit status of the command: 0, or 1 after an error, which is printed."""
    try:
        return _run(parsed)
    except _Failed as error:
        print(f"depyf: {error}", file=sys.stderr)
        return 1


class _Failed(Exception):
    pass


def _run(parsed: argparse.Namespace) -> int:
    where, _, path = parsed.target.partition(":")
    if not path:
        raise _Failed(f"{parsed.target}: no function is named; write {where}:FUNCTION")
    namespace = _program(where, parsed.arguments)
    if parsed.first:
        _execute(parsed.first, "--first", namespace)
    fn: Any = types.SimpleNamespace(**namespace)
    for part in path.split("."):
        try:
            fn = getattr(fn, part)
        except AttributeError:
            raise _Failed(f"{where} has no {path}") from None
    registration: Registration | None = None
    try:
        if parsed.apply:
            registration = _register(load_entry(parsed.apply, fn))
        elif parsed.editor:
            edited_file = edit(fn, parsed.file, entry=parsed.entry)
            print(f"Opening {edited_file.path} in the editor.")
            edited_file.open()
            registration = edited_file.register()
            _tell(registration.entry)
        else:
            _write(fn, parsed)
    except _MISTAKES as error:
        raise _Failed(f"{_said(error)}; nothing is registered") from None
    if parsed.then:
        _execute(parsed.then, "--then", namespace)
    elif registration is not None and sys.stdin is not None and sys.stdin.isatty():
        code.interact(banner="The entry is registered.", local=namespace, exitmsg="")
    return 0


def _write(fn: Any, parsed: argparse.Namespace) -> None:
    entries = cache_entries(fn)
    number = parsed.entry or 0
    if entries and not -len(entries) <= number < len(entries):
        raise IndexError(f"there is no entry {number}; the number of entries is {len(entries)}")
    chosen = entries[number] if entries else new_entry(fn)
    if not entries:
        print("Dynamo has not compiled the function, so the file contains the function's own code, without guards.")
    path = parsed.file or Path(f"{chosen.target.name.replace('<', '').replace('>', '')}.entry.py")
    chosen.save(path)
    print(f"Wrote {path}. Edit the file, and then register the file with --apply {path}.")


def _register(entry: CacheEntry) -> Registration:
    registration = entry.register()
    _tell(entry)
    return registration


def _tell(entry: CacheEntry) -> None:
    print(f"Registered: {entry}")


def _said(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {error.msg}"
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else f"{error}"


def _program(where: str, arguments: list[str]) -> dict[str, Any]:
    """Returns the globals of a program after it ran as `__main__`, or of a module after its import."""
    path = Path(where)
    if not path.is_file():
        sys.path.insert(0, "")
        try:
            return vars(importlib.import_module(where))
        except Exception as error:
            raise _Failed(f"{where} is neither a file nor a module that can be imported: {error}") from None
    main = types.ModuleType("__main__")
    main.__file__ = str(path)
    sys.modules["__main__"] = main
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), vars(main))
    except SystemExit as left:
        if left.code not in (None, 0):
            raise _Failed(f"{where} ended with exit status {left.code}, so nothing is registered") from None
    except Exception:
        traceback.print_exc()
        raise _Failed(f"{where} raised the exception above, so nothing is registered") from None
    return vars(main)


def _execute(text: str, option: str, namespace: dict[str, Any]) -> None:
    try:
        try:
            tree = ast.parse(text, f"<{option}>", mode="eval")
        except SyntaxError:
            exec(compile(text, f"<{option}>", "exec", dont_inherit=True), namespace)
            return
        value = eval(compile(tree, f"<{option}>", "eval", dont_inherit=True), namespace)
    except Exception:
        traceback.print_exc()
        raise _Failed(f"the code of {option} raised the exception above") from None
    if value is not None:
        print(value)
