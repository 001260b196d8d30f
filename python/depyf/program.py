"""`depyf run` runs a program unchanged under `prepare_debug`; `depyf explain` summarises dumps and logs."""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sys
import traceback
import types
from pathlib import Path
from typing import Literal

from depyf import _core, journal, page
from depyf.capture import children, recovery
from depyf.compat import distributed
from depyf.costs import Costs
from depyf.live_line import live_line
from depyf.session import read_runs

DIRECTORY = "depyf_dump"
MODULE_HELP = "run a module, as `python -m` does; the first argument is the name of the module"

WantedPage = Literal["none", "whole", "redacted"]


def run(
    arguments: list[str],
    *,
    module: bool,
    directory: str,
    wanted_page: WantedPage = "none",
    shows_summary: bool = True,
    profiles: bool = False,
) -> int:
    """Runs a program as `python` would. At the end, prints to standard error what was compiled in the program and in
    the Python processes that it started.

    Args:
        arguments: the script or the module's name, and the program's own arguments.
        module: true if the first argument is a module's name.
        directory: the directory of the dump.
        wanted_page: the contents of the report that is written to report.html in the directory: "whole", or "redacted"
            without the user's own texts; "none" if no report is written.
        shows_summary: false if no summary is printed at the end.
        profiles: true if the costs of compiling, memory and calls are measured, printed, and written to the directory.

    Returns:
        The program's exit status.

    Raises:
        OSError, SyntaxError: the script cannot be read or compiled, or the directory cannot be written to; the program
            has not run.
        SystemExit: this process is a forked child of the program's process, and ends without printing a summary.
        BaseException: the program ended with an exception that is no Exception, such as KeyboardInterrupt. `run` raises
            the program's exception again after the summary is printed, so that the process ends as it would without
            depyf.
    """
    code = None if module else _code_of(arguments[0])
    process = os.getpid()
    folder = _folder(directory)
    number = _number_of_next_run(folder)
    block = children.program_block(folder, number, measures_guards=profiles)
    status = 1
    interruption: BaseException | None = None
    costs = Costs() if profiles else None
    block.begin()
    try:
        with live_line(), children.watched(folder, number), costs or contextlib.nullcontext():
            status = _run(arguments, code)
    except BaseException as error:
        interruption = error
        _show_interruption(error)
    finally:
        block.end()
    sys.stdout.flush()
    if os.getpid() != process and interruption is None:
        sys.exit(status)
    if os.getpid() == process:
        _show(folder, costs, shows_summary=shows_summary, wanted_page=wanted_page)
    if interruption is not None:
        _keep_silent_about(interruption)
        raise interruption
    return status


def _folder(directory: str) -> Path:
    """Returns the folder to which this process writes: `directory`, or `rank_n` in it if the process is one of several
    ranks of a distributed program."""
    rank = distributed.rank()
    folder = Path(os.path.abspath(directory))
    return folder if rank is None else folder / f"rank_{rank}"


def _number_of_next_run(folder: Path) -> int:
    """Returns the number of the run that begins now in a folder, counted from 1."""
    try:
        runs = [*read_runs(folder), *(block.session for block in recovery.blocks(folder))]
    except (OSError, ValueError):  # The end of the block reports a session that cannot be read.
        return 1
    return 1 + max((run.run for run in runs), default=0)


def _show(folder: Path, costs: Costs | None, *, shows_summary: bool, wanted_page: WantedPage) -> None:
    """Prints the summary and the costs of the last run in a folder, and writes the report of the run."""
    if shows_summary:
        print(summary(folder, last_run=True), file=sys.stderr)
    if costs is not None:
        print(costs.write(folder), file=sys.stderr)
    if wanted_page == "none":
        return
    path = folder / "report.html"
    is_redacted = wanted_page == "redacted"
    try:
        page.write_page([folder], path, f"session.report({str(path)!r})", redact=is_redacted)
        print(f"       and {path}: the report as one page", file=sys.stderr)
    except OSError as error:
        print(f"depyf: the report could not be written: {error}", file=sys.stderr)


def _show_interruption(error: BaseException) -> None:
    """Prints the traceback of an exception that ended the program, without depyf's own frames at the top."""
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
            main.__file__ = code.co_filename
            main.__dict__["__builtins__"] = __builtins__
            sys.modules["__main__"] = main
            exec(code, main.__dict__)
    except SystemExit as exit:
        if exit.code is None or isinstance(exit.code, int):
            return exit.code or 0
        print(exit.code, file=sys.stderr)
        return 1
    except Exception as error:
        # The traceback is printed without depyf's own frame at the top.
        trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, trace)
        return 1
    return 0


def run_as_main(arguments: list[str]) -> int:
    """Runs a script as `python` would, and returns the exit status of the script.

    Raises:
        OSError, SyntaxError: the script cannot be read or compiled, and has not run.
    """
    return _run(arguments, _code_of(arguments[0]))


def _code_of(script: str) -> types.CodeType:
    """Returns the code of a script, which contains the absolute path of the script, as it does under `python`.

    Raises:
        OSError, SyntaxError: the script cannot be read or compiled.
    """
    return compile(Path(script).read_bytes(), os.path.abspath(script), "exec", dont_inherit=True)


def explain(paths: list[str], *, as_json: bool = False) -> int:
    """Prints one summary of all dumps and logs; if `as_json` is set, prints JSON with the summary and the findings.
    Returns the exit status: 1 if a dump or log could not be read completely, otherwise 0."""
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
        last_run: if true, leaves out all runs but the last run.

    Raises:
        ValueError: there is no dump in the directory, or the dump cannot be read.
    """
    problems = _rebuild(directory)
    text, errors, _ = _core.summary([str(directory)], last_run)
    if not text:
        raise ValueError("; ".join(errors))
    return "\n".join([text.rstrip("\n"), *errors, *problems])


def _rebuild(directory: Path) -> list[str]:
    """Writes `index.md` and `session.json` for those blocks of a dump whose processes died; see `recovery`.

    Returns:
        Sentences about errors, and about blocks that are open.

    Raises:
        ValueError: a session cannot be read.
    """
    notes = []
    for folder in filter(_has_record, _folders(directory)):
        try:
            blocks = recovery.recover(folder)
            notes += [note for block in blocks if block.is_open for note in block.session.notes]
        except OSError as error:
            notes.append(f"{folder}: index.md and session.json could not be rebuilt: {error}")
        if os.path.lexists(folder / "session.json"):
            read_runs(folder)
    return notes


def _folders(directory: Path) -> list[Path]:
    """Returns a directory and the folders of processes below it."""
    folders = [directory]
    for pattern in ("rank_*", children.PATTERN):
        for folder in sorted(directory.glob(pattern)):
            folders += _folders(folder) if folder.is_dir() else []
    return folders


def _has_record(directory: Path) -> bool:
    return os.path.lexists(directory / "session.json") or any(directory.glob(journal.PATTERN))
