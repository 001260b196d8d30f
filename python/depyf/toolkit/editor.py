"""Writes a cache entry to a file, opens the file in the user's editor, and registers the edited entry."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depyf import names
from depyf.toolkit import entry_file, loading, portable, saving
from depyf.toolkit.entries import CacheEntry, cache_entries, new_entry
from depyf.toolkit.registration import Registration


@dataclass(eq=False)
class EditedFile:
    """A file with a cache entry of this process, which the user edits."""

    path: Path
    entry: CacheEntry = field(repr=False)
    """The entry that was written to the file."""
    registration: Registration | None = None
    """The registration of the edited entry; None until the edited entry is registered."""

    def read(self) -> CacheEntry:
        """Returns the entry that the current content of the file describes. The entry is not registered.

        Raises:
            OSError: the file cannot be read.
            SyntaxError: the file is not Python; the error has the file and the line.
            NameError, ValueError, LookupError, TypeError: the file contains a mistake; the message names the file and
                the line.
        """
        parts = entry_file.read(self.path)
        about = entry_file.read_text(self.text_written()).entry
        for key, value in about.items():
            if parts.entry.get(key) != value:
                raise ValueError(
                    f"{self.path}: {key!r} in ENTRY is {parts.entry.get(key)!r} instead of {value!r}: it is another entry's"
                )
        bind = _bound(parts, self.entry)
        left = [(_normal(text), guard) for guard, text in saving.forms(self.entry, False)]
        new = []
        for condition in parts.guards:
            text = condition.text if condition.form == "expression" else f"{condition.form}({condition.text!r})"
            position = next((i for i, (known, _) in enumerate(left) if known == _normal(text)), None)
            if position is not None:
                del left[position]
            elif condition.form == "only_here":
                raise ValueError(f"{self.path}, line {condition.line}: the entry has no such guard: {condition.text}")
            else:
                check = portable.find(condition.text) if condition.form == "call" else condition.text
                new.append(loading.added_at(condition, check, self.entry.target, str(self.path)))
        source = None if parts.code.text.strip() == self.entry.source.strip() else parts.code
        try:
            edited = self.entry.edit(source=source, drop=[guard for _, guard in left], bind=bind)  # type: ignore[arg-type]
        except ValueError as error:
            raise ValueError(f"{self.path}, line {parts.code.line}: {error}") from None
        edited.guards += new
        return edited

    def register(self) -> Registration:
        """Registers the entry that the current content of the file describes. If an entry from an earlier content of
        the file is registered, removes that entry.

        Raises the exceptions of `read` and `CacheEntry.register`; after an exception, nothing has changed.
        """
        new = self.read().register()
        if self.registration is not None:
            self.registration.remove()
        self.registration = new
        return new

    def open(self) -> None:
        """Opens the file in `$EDITOR`, and waits until the editor ends.

        Raises:
            RuntimeError: the environment variable `EDITOR` is not set, or the editor cannot be started, or the editor
                ends with an error.
        """
        command = os.environ.get("EDITOR") or os.environ.get("VISUAL")
        if not command:
            raise RuntimeError("$EDITOR is not set; set this variable to the command that edits a file")
        try:
            status = subprocess.run([*shlex.split(command), str(self.path)]).returncode
        except (OSError, ValueError) as error:
            raise RuntimeError(f"the editor {command} ($EDITOR) cannot be started: {error}") from None
        if status:
            raise RuntimeError(f"the editor {command} ($EDITOR) ended with status {status}; nothing is registered")

    def text_written(self) -> str:
        """Returns the text that depyf wrote to the file, before any edit."""
        return saving.text_of(self.entry, {}, portable_forms=False)


def edit(fn: Any, path: str | Path | None = None, *, editor: bool = False, entry: int | None = None) -> EditedFile:
    """Writes an entry's source and guards to a commented Python file, which can be edited.

    The following example makes a compiled function run edited code.

        compiled(x)  # Dynamo compiles the function.
        file = depyf.edit(compiled, "entry.py")  # This writes the first entry of the function to a file.
        # Edit the file now, before its content is registered.
        file.register()  # This registers the edited entry.
        compiled(x)  # This call runs the edited code.

    Args:
        fn: the function, method, module, result of `torch.compile`, or resume function.
        path: the path of the file; by default a new file in a new directory.
        editor: if true, opens the file in `$EDITOR`, waits until the editor ends, and registers the edited entry.
        entry: the index of the entry in `cache_entries(fn)`; by default the index of the first entry. A function that
            was never compiled is written as its own code without guards.

    Returns:
        The file as an `EditedFile`, whose method `register` registers the current content of the file;
        `registration.remove()` undoes the registration.

    Raises:
        IndexError: the function has no entry with the index `entry`.
        RuntimeError: the editor failed.
        SyntaxError, NameError, ValueError, LookupError, TypeError: the edited file contains a mistake, whose line the
            error names; nothing is registered, and the file is kept.
        OSError: the file cannot be written.
    """
    entries = cache_entries(fn)
    if entry is not None and not -len(entries) <= entry < len(entries):
        raise IndexError(f"there is no entry {entry}; the number of entries is {len(entries)}")
    chosen = entries[entry or 0] if entries else new_entry(fn)
    if path is None:
        path = Path(tempfile.mkdtemp(prefix="depyf-")) / f"{names.safe_file_part(chosen.target.name)}.py"
    edited_file = EditedFile(Path(path), chosen)
    edited_file.path.write_text(edited_file.text_written(), encoding="utf-8")
    if editor:
        edited_file.open()
        edited_file.register()
    return edited_file


def _bound(parts: entry_file.Parts, entry: CacheEntry) -> dict[str, Any]:
    """Returns a mapping from each name in the dict NAMES of the file to the object that it stands for."""
    bind = {}
    for name, place in parts.names.items():
        try:
            bind[name] = portable.value_of(str(place), entry.target)
        except (LookupError, ValueError, SyntaxError) as error:
            raise ValueError(f"{parts.path}: {name} in NAMES: {error}") from None
    return bind


def _normal(text: str) -> str:
    try:
        return ast.dump(ast.parse(text.strip(), mode="eval"))
    except (SyntaxError, ValueError, RecursionError):
        return text
