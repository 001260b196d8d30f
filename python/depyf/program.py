"""`depyf run`: a program under `prepare_debug`, unchanged; `depyf explain`: what a dump tells, in short."""

from __future__ import annotations

import json
import runpy
import sys
import traceback
import types
from pathlib import Path
from typing import Any

from depyf.session import SCHEMA_VERSION, Session

DIRECTORY = "depyf_dump"


def run(arguments: list[str], *, module: bool, directory: str) -> int:
    """Runs a program as `python` would, and prints at the end, to standard error, what was compiled.

    Args:
        arguments: the script or the module's name, and the program's own arguments.
        module: is it a module's name?
        directory: of the dump.

    Returns:
        The program's exit status.

    Raises:
        OSError: the script cannot be read, or the directory not be written to. Nothing has run then.
    """
    import depyf

    code = None if module else compile(Path(arguments[0]).read_bytes(), arguments[0], "exec", dont_inherit=True)
    block = depyf.prepare_debug(directory)
    session = block.__enter__()
    try:
        status = _run(arguments, code)
    finally:
        block.__exit__(None, None, None)
    sys.stdout.flush()
    print(summary(Path(session.directory)), file=sys.stderr)
    return status


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


def summary(directory: Path) -> str:
    """What a dump tells, in short: functions, compilations, distinct graph breaks, recompilations, seconds.

    Raises:
        ValueError: there is no dump in the directory, or it cannot be read.
    """
    ranks = sorted(directory.glob("rank_*/session.json"), key=lambda path: (len(str(path)), str(path)))
    if ranks and not (directory / "session.json").exists():
        return "\n\n".join(f"{path.parent.name}:\n{summary(path.parent)}" for path in ranks)
    try:
        data = json.loads((directory / "session.json").read_text(encoding="utf-8"))
        if data["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"its schema version is {data['schema_version']}, this depyf reads {SCHEMA_VERSION}")
        session = Session.from_dict(data["runs"][-1], str(directory))
    except FileNotFoundError:
        raise ValueError("no session.json in it: it is no directory that prepare_debug wrote to") from None
    except (KeyError, IndexError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"its session.json cannot be read: {type(error).__name__}: {error}") from None
    return "\n".join(_lines(session, _seconds(directory), len(data["runs"])))


def _seconds(directory: Path) -> list[float | None]:
    try:
        data: Any = json.loads((directory / "times.json").read_text(encoding="utf-8"))
        return [one if isinstance(one, float) else None for one in data["seconds"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _lines(session: Session, seconds: list[float | None], runs: int) -> list[str]:
    compiled = [frame for frame in session.frames if frame.status == "compiled"]
    functions = {(frame.filename, frame.line, frame.function) for frame in compiled if not frame.is_resume}
    breaks, again = session.distinct_breaks(), session.recompilations()
    spent = sum(one for one in seconds if one is not None)
    counts = [
        _count(len(functions), "function"),
        _count(len(compiled), "compilation"),
        _count(len(breaks), "distinct graph break"),
        _count(len(again), "recompilation"),
    ]
    out = [f"depyf: {', '.join(counts)}" + (f", {spent:.1f} s spent compiling" if seconds else "")]
    out += [f"  (the last of {runs} runs in this directory)"] if runs > 1 else []
    for one, ids in breaks:
        out.append(f"  break at {one} ({', '.join(ids)})")
    for frame in again:
        why = [str(one) for one in frame.failures[:1]] or [
            one.partition("\n")[0] for one in frame.recompile_reasons[:1]
        ]
        out.append(f"  {frame.compile_id} compiled {frame.function} again: {''.join(why)}")
    out += [f"  not compiled: {frame.function}: {_first(frame.error)}" for frame in session.frames if frame.error]
    out += [f"  note: {note}" for note in session.notes]
    out.append(f"  Read on in {Path(session.directory) / 'index.md'}")
    out += [f"          and {Path(session.directory) / one.file}" for one in session.full_code]
    return out


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _first(text: str | None) -> str:
    return " ".join((text or "").split())[:200]
