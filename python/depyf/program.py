"""`depyf run` runs a program unchanged under `prepare_debug`; `depyf explain` summarises dumps and logs."""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
import types
from pathlib import Path
from typing import Literal

from depyf import _core, journal
from depyf.capture import prepare_debug, recovery
from depyf.live_line import live_line
from depyf.session import read_runs

DIRECTORY = "depyf_dump"

WantedPage = Literal["none", "whole", "redacted"]


def run(
    arguments: list[str],
    *,
    module: bool,
    directory: str,
    wanted_page: WantedPage = "none",
    shows_summary: bool = True,
) -> int:
    """Runs a program as `python` would, and prints to standard error at the end what was compiled.

    Args:
        arguments: the script or the module's name, and the program's own arguments.
        module: true if the first argument is a module's name.
        directory: the directory of the dump.
        wanted_page: the report that is written too, as report.html in the directory.
        shows_summary: false if nothing is printed at the end.

    Returns:
        The program's exit status.

    Raises:
        OSError: the script cannot be read, or the directory cannot be written to. Nothing has run then.
        BaseException: an exception that ended the program and is no Exception, such as KeyboardInterrupt. It is raised
            again after the summary is printed, so that the process ends as Python would end it.
    """
    code = None if module else compile(Path(arguments[0]).read_bytes(), arguments[0], "exec", dont_inherit=True)
    block = prepare_debug(directory)
    session = block.__enter__()
    status = 1
    interruption: BaseException | None = None
    try:
        with live_line():
            status = _run(arguments, code)
    except BaseException as error:
        interruption = error
        _show_interruption(error)
    finally:
        block.__exit__(None, None, None)
    sys.stdout.flush()
    if shows_summary:
        print(summary(Path(session.directory), last_run=True), file=sys.stderr)
    if wanted_page != "none":
        try:
            path = session.report(Path(session.directory) / "report.html", redact=wanted_page == "redacted")
            print(f"          and {path}: all of it as one page", file=sys.stderr)
        except OSError as error:
            print(f"depyf: the report could not be written: {error}", file=sys.stderr)
    if interruption is not None:
        _keep_silent_about(interruption)
        raise interruption
    return status


def _show_interruption(error: BaseException) -> None:
    """Prints the traceback as Python does for the program, without depyf's own lines at its top."""
    trace = error.__traceback__
    for _ in range(2):
        trace = trace.tb_next if trace is not None else None
    error.__traceback__ = trace
    sys.stdout.flush()
    sys.excepthook(type(error), error, trace)


def _keep_silent_about(error: BaseException) -> None:
    """Keeps Python from printing an exception a second time when it ends the process."""
    show = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: types.TracebackType | None) -> None:
        if value is not error:
            show(kind, value, trace)

    sys.excepthook = hook


def _run(arguments: list[str], code: types.CodeType | None) -> int:
    sys.argv = list(arguments)
    try:
        if code is None:
            sys.path[0] = ""
            runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = str(Path(arguments[0]).resolve().parent)
            main = types.ModuleType("__main__")
            main.__file__ = arguments[0]
            main.__dict__["__builtins__"] = __builtins__
            sys.modules["__main__"] = main
            exec(code, main.__dict__)
    except SystemExit as exit:
        if exit.code is None or isinstance(exit.code, int):
            return exit.code or 0
        print(exit.code, file=sys.stderr)
        return 1
    except Exception as error:
        # depyf's own lines at the top are left out.
        trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, trace)
        return 1
    return 0


def run_as_main(arguments: list[str]) -> int:
    """Runs a script as `python` would. Returns its exit status.

    Raises:
        OSError, SyntaxError: the script cannot be read. Nothing has run then.
    """
    return _run(arguments, compile(Path(arguments[0]).read_bytes(), arguments[0], "exec", dont_inherit=True))


def explain(paths: list[str], *, as_json: bool = False) -> int:
    """Prints one summary of all dumps and logs; as JSON with their findings if `as_json` is set. Returns the exit status: 1 if
    something could not be read completely."""
    readable, problems = [], []
    for path in paths:
        try:
            problems += _rebuild(Path(path))
            readable.append(path)
        except (OSError, ValueError) as error:
            problems.append(f"{path}: {error}")
    text, errors, is_whole = _core.summary(readable)
    if as_json:
        _, output, _ = _core.comparing_command(["findings", "--json", *readable]) if readable else (0, "{}", "")
        found = {"schema_version": 1, "findings": [], **json.loads(output or "{}")}
        print(json.dumps({"summary": text, "problems": [*errors, *problems], **found}, indent=2))
        return 0 if is_whole and not problems else 1
    print(text, end="")
    for message in (*errors, *problems):
        print(f"depyf: {message}", file=sys.stderr)
    return 0 if is_whole and not problems else 1


def summary(directory: Path, *, last_run: bool = False) -> str:
    """Returns the summary of a dump, as `depyf-report` prints it.

    Args:
        directory: the directory that `prepare_debug` wrote to, or that contains the folders of its ranks.
        last_run: if true, leaves out all runs but the last one.

    Raises:
        ValueError: there is no dump in the directory, or it cannot be read.
    """
    problems = _rebuild(directory)
    text, errors, _ = _core.summary([str(directory)], last_run)
    if not text:
        raise ValueError("; ".join(errors))
    return "\n".join([text.rstrip("\n"), *errors, *problems])


def _rebuild(directory: Path) -> list[str]:
    """Writes index and session for those blocks of a dump whose processes died; see `recovery`.

    Returns:
        Sentences about errors, and about blocks that are open.

    Raises:
        ValueError: a session cannot be read.
    """
    notes = []
    for folder in filter(_has_record, [directory, *sorted(directory.glob("rank_*"))]):
        try:
            blocks = recovery.recover(folder)
            notes += [note for block in blocks if block.is_open for note in block.session.notes]
        except OSError as error:
            notes.append(f"{folder}: index.md and session.json could not be rebuilt: {error}")
        if os.path.lexists(folder / "session.json"):
            read_runs(folder)
    return notes


def _has_record(directory: Path) -> bool:
    return os.path.lexists(directory / "session.json") or any(directory.glob(journal.PATTERN))
