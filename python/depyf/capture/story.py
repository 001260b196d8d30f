"""Writes the full_code files: one file for each function that was compiled in a `prepare_debug` block, together with
its resume functions."""

from __future__ import annotations

import os

from depyf import dump, names
from depyf.capture.artifacts import Artifacts
from depyf.capture.compilation import Compilation
from depyf.guards import texts
from depyf.session import FullCode, Session


def write(order: list[Compilation], session: Session, artifacts: Artifacts) -> None:
    """Writes one `full_code` file for each function. The file of a function also contains its resume functions.

    Args:
        order: the compilations of the `prepare_debug` block.
        session: receives a record of each file.
        artifacts: writes the files.
    """
    by_code: dict[int, list[Compilation]] = {}
    for compile in order:
        if compile.original is not None:
            by_code.setdefault(compile.number_of_original, []).append(compile)
    reached: set[int] = set()
    compiled = {
        key
        for key, group in by_code.items()
        if any(compilation.frame.status != "not compiled" for compilation in group)
    }
    tops = [key for key in by_code if key in compiled and not by_code[key][0].frame.is_resume]
    for key in tops:
        reached |= _write(key, by_code, session, artifacts)
    # A resume function has a file of its own if the function that it continues was not compiled in this `prepare_debug`
    # block.
    for key in by_code:
        if key in compiled and key not in reached:
            reached |= _write(key, by_code, session, artifacts)


def _write(top: int, by_code: dict[int, list[Compilation]], session: Session, artifacts: Artifacts) -> set[int]:
    """Writes the `full_code` file of the function with the number `top` (`Compilation.number_of_original`). Returns the
    numbers of all functions in the file, including resume functions."""
    places = {
        name: line
        for group in by_code.values()
        for compilation in group
        for name, line in compilation.resume_places.items()
    }
    todo, reached = [top], {top}
    sections: list[dump.Section] = []
    while todo:
        key = todo.pop(0)
        group = by_code[key]
        original = group[0].original
        assert original is not None
        called = {name: line for compile in group for name, line in compile.resume_places.items()}
        own = {name: places[name] for name in group[0].frame.resume_names if name in places}
        frames = [compile.frame for compile in group]
        sections.append(
            dump.Section(
                original,
                frames,
                [_write_guards(compilation, artifacts) for compilation in group],
                called,
                own,
                group[0].source,
            )
        )
        for compile in group:
            for resume in compile.resumes.values():
                if resume is not None and resume in by_code and resume not in reached:
                    reached.add(resume)
                    todo.append(resume)
    name = sections[0].original.co_name
    text = dump.full_code(sections, artifacts.read)
    path = artifacts.claim(f"full_code_for_{names.safe_file_part(name)}_{{}}.py", lambda n: text, texts.without_ids)[0]
    ids = [frame.compile_id for section in sections for frame in section.frames if frame.status != "not compiled"]
    title = sections[0].frames[0].title
    session.full_code.append(FullCode(name, os.path.basename(path), ids, title))
    return reached


def _write_guards(compile: Compilation, artifacts: Artifacts) -> str | None:
    """Writes the guards of a compilation as a function that can be executed. Returns the name of the file; None if the
    guards are unknown."""
    if compile.guarded is None:
        return None
    guards, frame = compile.guarded.guards, compile.frame
    title = f"compilation {frame.compile_id} of {frame.title}"
    template = f"__guards_{{}}_for_{names.safe_file_part(frame.function)}.py"
    path = artifacts.claim(template, lambda n: dump.guard_function(guards, f"guard_{n}", title), texts.without_ids)[0]
    frame.guards_file = os.path.basename(path)
    return frame.guards_file
