"""The story of a function: one file that leads through everything that torch.compile made of it."""

from __future__ import annotations

import inspect
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass, field

from depyf import _core, decompiler, names, resume_source
from depyf.dump.artifacts import IMPORTS, compiles, graph_body
from depyf.dump.comments import remark
from depyf.dump.stages import in_order
from depyf.dump.words import notes
from depyf.guards import Guards, texts
from depyf.guards.frontier import limit_groups
from depyf.guards.source import source as guard_source
from depyf.session import Frame
from depyf.source_line import Line

_LINE = 96
_LONGEST = 196  # characters of a comment, without its sign


@dataclass
class Section:
    """One function in a full_code file, with its compilations."""

    original: types.CodeType
    frames: list[Frame]
    guard_files: list[str | None]
    """Of each of them the file with its guards as a function; None where they are not known as a list."""
    resume_places: dict[str, Line] = field(default_factory=dict)
    """The user's lines at which the resume functions go on that its compilations call."""
    own_places: dict[str, Line] = field(default_factory=dict)
    """Of a resume function: the line at which it goes on, by the names that it is called by."""
    source: str | None = None
    """The source of the function, where it is known already."""

    @property
    def text(self) -> str:
        """The source of the function."""
        return self.source or original_source(self.original)


def full_code(sections: list[Section], read: Callable[[str], str]) -> str:
    """Returns one Python file that leads from the original function through guards, code and graphs to the end.

    Args:
        sections: the function, and after it the resume functions that its code leads to.
        read: gives the text of a file of the dump.
    """
    top = sections[0]
    lines = [
        remark(f"All that torch.compile made of {top.frames[0].title}, to be read from top to bottom:"),
        "# the original function; then each compilation with the code that runs, the graph that this code calls, and the",
        "# guards under which it runs; then the same for the functions that go on after graph breaks. To be read, not",
        "# run: what is the same in each layer of a model stands once, and the graphs of later stages and the kernels are",
        "# in the files that are named.",
        "#",
    ]
    for section in sections:
        name = section.frames[0].resume_name or section.frames[0].name or section.original.co_name
        for frame in section.frames:
            leads = [f"__compiled_fn_{frame.compiled_fn}"] if frame.compiled_fn is not None else []
            leads += frame.resume_calls
            arrow = f" -> {', '.join(leads)}" if leads else ""
            lines.append(remark(f"  {name}: compilation {frame.compile_id}{arrow}"))
    lines += ["", IMPORTS.rstrip()]
    known = {name: section for section in sections for name in section.frames[0].resume_names}
    for section in sections:
        lines += _section(section, top, known, read)
    lines += ["", f"#============ end of {names.one_line(top.original.co_name)} ============#", ""]
    return "\n".join(lines)


def _section(
    section: Section,
    top: Section,
    known: dict[str, Section],
    read: Callable[[str], str],
) -> list[str]:
    first = section.frames[0]
    if first.is_resume:
        names_ = " or ".join(first.resume_names) or first.function
        lines = _title(f"{names_}: {first.title}, made by Dynamo as {first.function}")
        places = [section.own_places[name] for name in first.resume_names if name in section.own_places]
        lines += ["", *_marked(top, places[0])] if places else []
    else:
        lines = [*_title(f"{first.title}: the original function"), "", section.text]
    for frame, guard_file in zip(section.frames, section.guard_files, strict=True):
        lines += _title(
            f"{frame.resume_name or frame.name or frame.function}: compilation {frame.compile_id}, {frame.status}"
        )
        lines += map(remark, notes(frame))
        if frame.transformed_file:
            body, first_line = _body(read(frame.transformed_file))
            lines += [
                "",
                f"# {frame.transformed_file}",
                _core.folded(body, frame.transformed_file, first_line).rstrip(),
            ]
        for name in frame.resume_calls:
            lines += _resumed(name, known)
        captured = frame.files("Captured_Graph")
        if captured:
            name = f"__compiled_fn_{frame.compiled_fn}" if frame.compiled_fn is not None else "GraphModule"
            lines += [
                "",
                f"# {captured[0]}: what {name} computes, as it was captured.",
                graph_body(read(captured[0]), name, captured[0]),
            ]
            later = [artifact.file for artifact in in_order(frame) if artifact.kind != "Captured_Graph"]
            if later:
                lines += ["", f"# What the backend made of {name}, in this order:", *(f"#   {file}" for file in later)]
        for sentence in frame.missing:
            lines.append(remark(f"Missing: {sentence}."))
        lines += _condition(frame, guard_file)
    return lines + _not_compiled(section, top, known)


def _condition(frame: Frame, guard_file: str | None) -> list[str]:
    """Returns the guards of a compilation in groups, or their texts where they are not known as a list."""
    if guard_file is None and not frame.guards:
        return []
    where = f"; {guard_file} has them as a function" if guard_file is not None else ""
    lines = ["", remark(f"Guards: the code above runs where all of these hold{where}.")]
    if not frame.frontier:
        return [*lines, *(remark(f"  {line}") for line in texts.conditions(frame.guards))]
    for group, limits in limit_groups(frame.frontier):
        lines.append(remark(f"{group}:"))
        for line in _core.folded_conditions([str(limit) for limit in limits]):
            text = f"  {names.one_line(line)}"
            is_long = len(text) > _LONGEST
            lines += map(remark, textwrap.wrap(text, _LONGEST, subsequent_indent=" " * 8) if is_long else [text])
    return lines


def _resumed(name: str, known: dict[str, Section]) -> list[str]:
    """Returns a remark on where the resume function is shown."""
    compiled = known.get(name)
    if compiled is None:
        place = "it was not compiled in this block, see below"
    else:
        ids = [frame.compile_id for frame in compiled.frames]
        place = f"see {'compilation' if len(ids) == 1 else 'compilations'} {', '.join(ids)} below"
    return ["", remark(f"{name} goes on after the graph break; {place}.")]


def _not_compiled(section: Section, top: Section, known: dict[str, Section]) -> list[str]:
    """Returns the sections of the resume functions that were not compiled in the block: the user's source, and the
    line."""
    lines = []
    for name in [name for frame in section.frames for name in frame.resume_calls if name not in known]:
        place = section.resume_places.get(name)
        if place is None:
            lines += _title(f"{name}: not compiled in this block")
        else:
            lines += _title(f"{name}: goes on at {place.name}:{place.line}; not compiled in this block")
            lines += ["", *_marked(top, place)]
    return lines


def _marked(top: Section, place: Line) -> list[str]:
    """Returns the user's source with the line where a resume function goes on; as comments where it is no whole
    statement."""
    source = resume_source.marked(top.text, top.original, place.file, place.line)
    lines = source.splitlines()
    return lines if compiles(source) else [remark(line) for line in lines]


def guard_function(guards: Guards, name: str, title: str) -> str:
    """Returns the file with the guards of a compilation as a function, with what a reader has to know of it.

    Args:
        name: of the function.
        title: whose guards they are.
    """
    head = [
        remark(f"The guards of {title}: its code runs where {name}(L, G) is true."),
        "# L has the local variables by name, G the global ones.",
    ]
    if any(guard.live is not None for guard in guards):
        head.append("# `live` is a list of PyTorch's own objects, for the guards that have no Python form.")
    return "\n".join([*head, "", guard_source(guards, name).rstrip("\n"), ""])


def original_source(code: types.CodeType) -> str:
    """Returns a function as its author wrote it; decompiled where the file is not there or has no whole statement."""
    try:
        text = textwrap.dedent(inspect.getsource(code)).rstrip()
        compile(text, "<source>", "exec", dont_inherit=True)
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return "# Decompiled: the source is not at hand.\n" + decompiler.source_of(code).rstrip()
    return text


def _title(text: str) -> list[str]:
    return [
        "",
        "",
        "# " + "-" * _LINE,
        *map(remark, textwrap.wrap(text, _LINE) if len(text) > _LINE else [text]),
        "# " + "-" * _LINE,
    ]


def _body(text: str) -> tuple[str, int]:
    """Returns a file of ours without its head comments, and the number of the line that it begins with there."""
    lines = text.splitlines()
    kept = ("# proved", "# not proved", "# __const_", "# not exact")
    first = 0
    while first < len(lines) and (not lines[first] or (lines[first][0] == "#" and not lines[first].startswith(kept))):
        first += 1
    return "\n".join(lines[first:]).rstrip(), first + 1
