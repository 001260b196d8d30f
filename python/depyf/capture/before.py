"""Dumps the transformed code and the guards of compilations that took place before a `prepare_debug` block and still
have cache entries."""

from __future__ import annotations

from pathlib import Path

from depyf import function_names, names, report, weak
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation, numbers
from depyf.compat import dynamo, installed
from depyf.guards import texts
from depyf.session import Frame, Session


def add(
    codes: weak.Table[bool],
    functions: tuple[weak.Reference, ...],
    order: list[Compilation],
    seen: weak.Table[bool],
    session: Session,
    artifacts: Artifacts,
    *,
    warns: bool,
) -> None:
    """Adds compilations from before a `prepare_debug` block to the compilations of the block. Adds a note to the
    session that names the functions whose earlier compilations are not dumped.

    Args:
        codes: the code objects of the functions that had cache entries when the block began.
        functions: weak references to the code objects of the functions that were passed to `prepare_debug`.
        order: the list of the block's compilations, to which the earlier compilations are added.
        seen: the transformed code objects that Dynamo generated while the block was open.
        session: the session of the `prepare_debug` block.
        artifacts: writes the files.
        warns: true if the user is to be warned when nothing was compiled in the block.
    """
    # `given` has the ids of the code objects of the functions that were passed to `prepare_debug`, and of the resume
    # functions that the transformed code of these functions calls.
    alive = [code for code in [refers() for refers in functions] if code is not None]
    given = {id(code) for code in dynamo.family(alive)}
    again = {compile.number_of_original for compile in order}
    nothing_new = not any(compile.frame.status == "compiled" for compile in order)
    shown: list[str] = []
    others: list[str] = []
    for code, _ in codes.items():
        where = f"{function_names.of_code(code)} ({Path(code.co_filename).name}:{code.co_firstlineno})"
        if not (nothing_new or id(code) in given or numbers.of(code) in again):
            others.append(where)
            continue
        entries = [entry for entry in dynamo.entries(code) if entry.code not in seen]
        for entry in reversed(entries):
            frame = Frame(
                entry.compile_id or "?", code.co_name, code.co_filename, code.co_firstlineno, "compiled before"
            )
            frame.name = function_names.of_code(code)
            frame.is_resume = installed.is_resume_code(code)
            frame.guards = texts.tree(entry.guards)
            compile = Compilation(frame)
            compile.set_original(code)
            called = [n for name in entry.code.co_names if (n := names.compiled_fn_number(name)) is not None]
            frame.compiled_fn = compile.number = called[0] if called else None
            for name in entry.code.co_names:
                if installed.is_resume_name(name):
                    compile.add_resume(name, installed.resume_code(installed.find_global(name)), code)
            session.frames.append(frame)
            order.append(compile)
            # The code in an existing cache entry cannot be replaced, so code from the dumped file must not run.
            artifacts.write_transformed(compile, entry.code, may_run=False)
        if entries and not installed.is_resume_code(code):
            shown.append(where)
    if shown:
        note = (
            f"Compiled before the block: {', '.join(shown)}. Of these compilations, only the transformed code and the "
            "guards still exist; graphs and kernels do not. To see everything, call torch._dynamo.reset() before the "
            "block, or make the first call in it."
        )
        session.notes.append(note)
        report.warn(f"depyf: {note}")
    elif nothing_new and not session.notes:
        note = f"Nothing was compiled in the block{_what_was_tried(order)}"
        session.notes.append(note)
        if warns:
            report.warn(f"depyf: {note}")
    if others:
        session.notes.append(
            f"Compiled before the block and not shown: {', '.join(others)}. Calls that use these compilations leave "
            "no files here. To see them, call torch._dynamo.reset() before the block, or pass the function: "
            "prepare_debug(fn, directory)."
        )


def _what_was_tried(order: list[Compilation]) -> str:
    """Returns the rest of a sentence that begins with "Nothing was compiled in the block": the functions that Dynamo
    tried to compile."""
    ahead = [compile.frame.title for compile in order if compile.frame.notes]
    failed = [compile.frame.title for compile in order if not compile.frame.notes]
    if failed:
        return f". Dynamo gave up {', '.join(dict.fromkeys(failed))}."
    if ahead:
        return f" for a call. Dynamo captured {', '.join(dict.fromkeys(ahead))} ahead of time."
    return ": no function under torch.compile was called in it, or Dynamo left alone what was called."
