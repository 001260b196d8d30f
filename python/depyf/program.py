"""`depyf run`: a program under `prepare_debug`, unchanged; `depyf explain`: what a dump tells, in short."""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
import types
from pathlib import Path
from typing import Any, Literal

from depyf import _core, journal, names
from depyf.capture import prepare_debug, recovery
from depyf.dump import deciding_reason, details, headline
from depyf.session import Session, read_runs

DIRECTORY = "depyf_dump"

WantedPage = Literal["none", "whole", "redacted"]


def run(arguments: list[str], *, module: bool, directory: str, wanted_page: WantedPage = "none") -> int:
    """Runs a program as `python` would, and prints at the end, to standard error, what was compiled.

    Args:
        arguments: the script or the module's name, and the program's own arguments.
        module: is it a module's name?
        directory: of the dump.
        wanted_page: the report that is written too, as report.html in the directory.

    Returns:
        The program's exit status.

    Raises:
        OSError: the script cannot be read, or the directory not be written to. Nothing has run then.
        BaseException: what ended the program and is no Exception, KeyboardInterrupt above all. It is raised again when the
            summary is printed, so that the process ends as Python's own would.
    """
    code = None if module else compile(Path(arguments[0]).read_bytes(), arguments[0], "exec", dont_inherit=True)
    block = prepare_debug(directory)
    session = block.__enter__()
    status = 1
    interruption: BaseException | None = None
    try:
        status = _run(arguments, code)
    except BaseException as error:
        interruption = error
        _show_interruption(error)
    finally:
        block.__exit__(None, None, None)
    sys.stdout.flush()
    print(summary(Path(session.directory)), file=sys.stderr)
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
    """Shows the traceback as Python does for the program, without the lines of ours at its top."""
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
        # Without the lines of ours at its top.
        trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, trace)
        return 1
    return 0


def explain(paths: list[str]) -> int:
    """Prints the summary of each dump, and one of all logs together. Returns the exit status."""
    status = 0
    logs = []
    for path in paths:
        if os.path.isfile(path) or (not _is_dump(Path(path)) and any(Path(path).glob("*.log*"))):
            logs.append(path)
            continue
        try:
            print(summary(Path(path)))
        except (OSError, ValueError) as error:
            print(f"depyf: {path}: {error}", file=sys.stderr)
            status = 1
    if not logs:
        return status
    text, errors, is_whole = _core.summary(logs)
    print(text, end="")
    for message in errors:
        print(f"depyf: {message}", file=sys.stderr)
    return status if is_whole else 1


def _is_dump(directory: Path) -> bool:
    return _has_record(directory) or any(map(_has_record, directory.glob("rank_*")))


def summary(directory: Path) -> str:
    """Returns the summary of a dump: functions, compilations, distinct graph breaks, recompilations, seconds.

    For blocks whose processes died, index and session are rebuilt first; see `recovery`.

    Raises:
        ValueError: there is no dump in the directory, or it cannot be read.
    """
    ranks = sorted(filter(_has_record, directory.glob("rank_*")), key=lambda path: (len(str(path)), str(path)))
    if ranks and not _has_record(directory):
        return "\n\n".join(f"{path.name}:\n{summary(path)}" for path in ranks)
    if not _has_record(directory):
        raise ValueError("no session.json and no journal in it: it is no directory that prepare_debug wrote to")
    lines = []
    problem = ""
    try:
        blocks = recovery.recover(directory)
    except OSError as error:
        blocks = recovery.blocks(directory)
        problem = f"  depyf: index.md and session.json could not be rebuilt: {error}"
    apart = [block.session for block in blocks if block.is_open or problem]
    runs = read_runs(directory)
    recovered = [] if problem else [block.session.to_dict() for block in blocks if not block.is_open]
    for number, run in enumerate(runs, 1):
        # All that was rebuilt now, and the last one.
        if number == len(runs) or run.to_dict() in recovered:
            lines += _lines(run, _seconds(directory) if number == len(runs) else [], number, len(runs))
    for session in apart:
        lines += _lines(session, [frame.seconds for frame in session.frames], 1, 1)
    return names.one_line_each([*lines, problem] if problem else lines)


def _has_record(directory: Path) -> bool:
    return os.path.lexists(directory / "session.json") or any(directory.glob(journal.PATTERN))


def _seconds(directory: Path) -> list[float | None]:
    try:
        data: Any = json.loads((directory / "times.json").read_text(encoding="utf-8"))
        return [number if isinstance(number, float) else None for number in data["seconds"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _lines(session: Session, seconds: list[float | None], number: int, runs: int) -> list[str]:
    compiled = [frame for frame in session.frames if frame.status == "compiled"]
    functions = {(frame.filename, frame.line, frame.function) for frame in compiled if not frame.is_resume}
    breaks, again = session.distinct_breaks(), session.recompilations()
    spent = sum(number for number in seconds if number is not None)
    counts = [
        _count(len(functions), "function"),
        _count(len(compiled), "compilation"),
        _count(len(breaks), "distinct graph break"),
        _count(len(again), "recompilation"),
    ]
    failed = [frame for frame in session.frames if frame.error]
    if failed:
        counts.append(f"{len(failed)} not compiled")
    lines = [f"depyf: {', '.join(counts)}" + (f", {spent:.1f} s spent compiling" if seconds else "")]
    lines += (
        [f"  ({'the last' if number == runs else f'run {number}'} of {runs} runs in this directory)"]
        if runs > 1
        else []
    )
    for frame in failed:
        lines += [f"  {headline(frame)}", *(f"    {line}" for line in details(frame))]
    stopping = {frame.stopped_by.key for frame in failed if frame.stopped_by is not None}
    for graph_break, ids in breaks:
        if graph_break.key in stopping and not [frame for frame in compiled if frame.compile_id in ids]:
            continue
        where = "; ".join(f"{name} {', '.join(group)}" for name, group in session.by_function(ids))
        lines.append(f"  break at {graph_break} ({where})")
    # The compilations that used up a limit are listed there.
    listed = {each for frame in failed if frame.exceeded is not None for each in frame.exceeded.compile_ids}
    for frame in again:
        if frame.compile_id in listed:
            continue
        words = [reason.partition("\n")[0] for reason in frame.recompile_reasons[:1]]
        why = deciding_reason(frame.failures) if frame.failures else "".join(words)
        lines.append(f"  {frame.compile_id} compiled {frame.title} again: {why}")
    lines += [f"  note: {note}" for note in session.notes]
    if number == runs:
        lines.append(f"  Read on in {Path(session.directory) / 'index.md'}")
    lines += [
        f"          and {Path(session.directory) / artifact.file}: {artifact.title}" for artifact in session.full_code
    ]
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
