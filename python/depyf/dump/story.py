"""Writes the full_code file, which contains all code, graphs and guards that torch.compile generated for a function, in
the order of execution."""

from __future__ import annotations

import inspect
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from depyf import _core, decompiler, resume_source
from depyf.dump.artifacts import compiles
from depyf.dump.comments import remark
from depyf.dump.words import WORDED
from depyf.guards import Guards
from depyf.guards.source import source as guard_source
from depyf.session import Frame
from depyf.source_line import Line

# The fields of a `Frame` that the full_code file describes.
_TOLD = (
    *WORDED,
    *("compile_id", "compiled_fn", "resume_name", "resume_names", "resume_calls", "transformed_file", "frontier"),
    *("artifacts", "missing"),
)


@dataclass
class Section:
    """A function in a full_code file, with its compilations."""

    original: types.CodeType
    frames: list[Frame]
    guard_files: list[str | None]
    """For each compilation: the name of the file that contains its guards as a function; None if the guards are not
    known as a list."""
    resume_places: dict[str, Line] = field(default_factory=dict)
    """Maps the name of each resume function that the section's compilations call to the user's line at which the resume
    function continues."""
    own_places: dict[str, Line] = field(default_factory=dict)
    """If the section's function is a resume function: maps each name under which the function is called to the user's
    line at which the function continues."""
    source: str | None = None
    """The source of the section's function; None if it is not known yet."""

    @property
    def text(self) -> str:
        """The source of the section's function."""
        return self.source or original_source(self.original)


def full_code(sections: list[Section], read: Callable[[str], str]) -> str:
    """Returns the text of one Python file that describes the original function, and then the transformed code, graphs
    and guards of all compilations.

    Args:
        sections: the function, followed by the resume functions that its transformed code calls, directly or through
            other resume functions.
        read: returns the text of a file of the dump.
    """
    told = [
        {
            "source": "" if section.frames[0].is_resume else section.text,
            "code_name": section.original.co_name,
            "frames": [_told(frame) for frame in section.frames],
            "guard_files": section.guard_files,
            "resume_places": section.resume_places,
            "own_places": section.own_places,
        }
        for section in sections
    ]
    return _core.full_code(_core.json_text(told, levels=0), read, lambda file, line: _marked(sections[0], file, line))


def _told(frame: Frame) -> dict[str, Any]:
    # The guards of a model take thousands of lines, so only the first guard is passed on if the frame has a list of
    # limits (`frontier`).
    guards = frame.guards[:1] if frame.frontier else frame.guards
    return {**{name: getattr(frame, name) for name in _TOLD}, "guards": guards}


def _marked(top: Section, file: str, line: int) -> list[str]:
    """Returns the lines of the user's source; a comment marks the line at which a resume function continues. The
    returned lines are comments if the source is not a whole statement."""
    source = resume_source.marked(top.text, top.original, file, line)
    lines = source.splitlines()
    return lines if compiles(source) else [remark(line) for line in lines]


def guard_function(guards: Guards, name: str, title: str) -> str:
    """Returns the text of a file with the guards of a compilation as a function, and with comments on its parameters.

    Args:
        name: the name of the function.
        title: the title of the compilation.
    """
    head = [
        remark(f"The guards of {title}: its code runs where {name}(L, G) is true."),
        "# L has the local variables by name, G the global ones.",
    ]
    if any(guard.live is not None for guard in guards):
        head.append("# `live` is a list of PyTorch's own objects, for the guards that have no Python form.")
    return "\n".join([*head, "", guard_source(guards, name).rstrip("\n"), ""])


def original_source(code: types.CodeType) -> str:
    """Returns the source of a function as its author wrote it. If the file of the source is missing, or does not
    contain the function as a whole statement, the decompiled source is returned."""
    try:
        text = textwrap.dedent(inspect.getsource(code)).rstrip()
        compile(text, "<source>", "exec", dont_inherit=True)
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return "# Decompiled: the source is not at hand.\n" + decompiler.source_of(code).rstrip()
    return text
