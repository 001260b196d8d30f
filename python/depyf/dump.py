"""The texts of a dump: head comments, graphs as Python, the story of a function, the index."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import json
import re
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depyf import _core, decompiler, names
from depyf.decompilation import PROVED
from depyf.guards import Guards, texts
from depyf.guards.frontier import origin
from depyf.guards.source import source as guard_source
from depyf.guards.terms import in_terms
from depyf.session import SCHEMA_VERSION, Artifact, Frame, FullCode, Missing, Session, Symbol

__all__ = [
    "FullCode",
    "Section",
    "artifact_text",
    "full_code",
    "index",
    "merged_runs",
    "missing_artifacts",
    "session_json",
    "transformed_text",
]

# In the order in which they are made, which is the order to read them in.
KINDS = {
    "Captured_Graph": "the graph that Dynamo captured, in the user's own torch functions",
    "BEFORE_PRE_GRAD": "the captured graph as Inductor gets it, before its pre-grad passes",
    "AFTER_PRE_GRAD": "the same after Inductor's pre-grad passes",
    "Joint_graph": "forward and backward in one graph, in ATen operators",
    "Forward_graph": "the forward half, in ATen operators",
    "Backward_graph": "the backward half, in ATen operators",
    "BEFORE_POST_GRAD": "one direction as Inductor gets it from AOTAutograd, before its post-grad passes",
    "AFTER_POST_GRAD": "the same after Inductor's post-grad passes",
    "ir_pre_fusion": "Inductor's IR before fusion",
    "ir_post_fusion": "Inductor's IR after fusion",
    "kernel": "Inductor's output code: kernels, and the code that calls them",
}
# These need Inductor to run; a warm cache gives the result without them.
_NOT_IN_CACHE = ("BEFORE_PRE_GRAD", "AFTER_PRE_GRAD")
_OF_DIRECTION_NOT_IN_CACHE = ("BEFORE_POST_GRAD", "ir_pre_fusion", "ir_post_fusion")
_ELSEWHERE = "Inductor made it in another process; to have it here, set TORCHINDUCTOR_FX_COMPILE_MODE=NORMAL"
_FRESH = "to have it made again, set torch._inductor.config.force_disable_caches = True before the first call"

_GRAPH_HEAD = """\
from __future__ import annotations

import torch
from torch import device, inf, nan
"""
_PYTREES = """\
import torch.fx._pytree as fx_pytree
import torch.utils._pytree as pytree
"""
_CLASS = re.compile(r"^class (?:<lambda>|\w+)\(torch\.nn\.Module\):", re.MULTILINE)
_INNER_CLASS = re.compile(r"^( *class )<lambda>\(", re.MULTILINE)
_GRAPH_ID = re.compile(r"^\s*# graph id: \d+\s*$", re.MULTILINE)
_LINE = 96


@dataclass
class Section:
    """One function in a full_code file, with its compilations."""

    original: types.CodeType
    frames: list[Frame]
    guards: list[Guards | None]
    """Of each of them, where they are known as a list."""


# Single files


def artifact_text(
    kind: str,
    text: str,
    direction: str | None,
    frame: Frame | None,
    runs: str | None = None,
    *,
    is_python: bool = False,
) -> str:
    """A graph, kernel or IR as its file shows it.

    Args:
        runs: what `runs_text` says of it, None of what never runs.
        is_python: is the text of a kernel known to be Python?
    """
    about = KINDS.get(kind, f'a graph that was shown under the name "{kind}"')
    head = [_remark(f"{about[0].upper()}{about[1:]}."), _remark(_belongs(frame, direction))]
    head += [_remark(runs)] if runs is not None else []
    if kind.startswith("ir_"):
        return "\n".join([*head, "", names.shorten(text).rstrip(), ""])
    if kind == "kernel":
        return "\n".join([*head, "", _kernel(text, is_python), ""])
    imports = _GRAPH_HEAD + (_PYTREES if "pytree" in text else "")
    return "\n".join([*head, imports, "", graph_class(text), ""])


def runs_text(kind: str, reason: str) -> str:
    """One line that says whether a graph or kernel runs from its file; `reason` is empty where it does."""
    if reason:
        return f"Does not run from this file: {' '.join(reason.split())}."
    if kind == "kernel":
        return "Runs from this file: proved equivalent to Inductor's own."
    return "Runs from this file where the backend runs this graph as it is: proved equivalent to PyTorch's own."


@functools.lru_cache(maxsize=8)  # a file's text is made once to see whether it can run, and again with the answer
def graph_class(text: str, name: str = "GraphModule") -> str:
    """The class that PyTorch prints for a graph, with a name that Python takes, and without what differs in every run."""
    text = names.shorten(text)
    if "# graph id: " in text:
        text = _GRAPH_ID.sub("", text)
    text = text.strip()
    text = _CLASS.sub(f"class {name}(torch.nn.Module):", text, count=1)
    if "class <lambda>(" in text:
        text = _INNER_CLASS.sub(r"\1GraphModule(", text)
    return _or_comments(text)


def transformed_text(frame: Frame, source: str, runs: str) -> str:
    """The file of one transformed code; `source` with the result of its proof at its head, and what runs."""
    head = [
        _remark(f"The code that runs in place of {frame.function} where the guards of this compilation hold."),
        _remark(_belongs(frame, None)),
    ]
    proof, _, rest = source.partition("\n")
    if proof == PROVED:
        proof += " that Dynamo made"
    proof += f"; {runs}"
    return "\n".join([*head, proof, "", rest.strip("\n"), ""])


def _belongs(frame: Frame | None, direction: str | None) -> str:
    parts = []
    if frame is None:
        parts.append("No compilation was at work when it was made")
    else:
        number = "" if frame.compiled_fn is None else f"__compiled_fn_{frame.compiled_fn}, "
        where = f" (line {frame.line})" if frame.line else ""
        parts.append(f"Belongs to {number}compilation {frame.compile_id} of {frame.function}{where}")
    if direction:
        parts.append(f"direction: {direction}")
    return "; ".join(parts) + "."


def _or_comments(text: str) -> str:
    """The text if it is Python; else the same as comments, with the reason."""
    with contextlib.suppress(SyntaxError, ValueError):
        compile(_core.shortened_graph(text), "<dump>", "exec", dont_inherit=True)
        return text
    try:  # for the error and its line
        compile(text, "<dump>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return "\n".join([_remark(f"PyTorch's own text, which is not Python: {error}"), *_comments(text)])
    return text


@functools.lru_cache(maxsize=8)
def _kernel(text: str, is_python: bool) -> str:
    text = names.shorten(text).rstrip()
    return text if is_python else _or_comments(text)


def _comments(text: str) -> list[str]:
    return [_remark(line) for line in text.splitlines()]


# What is not there


def missing_artifacts(frame: Frame, cached: set[str | None], elsewhere: bool = False) -> list[Missing]:
    """What one would expect of a compilation that came as far as this one did, and why it is missing.

    Args:
        cached: the directions that came from a cache; None stands for all that was made together with the forward.
        elsewhere: did Inductor compile in another process?
    """
    if frame.status == "compiled before":
        why = "compiled before the block; call torch._dynamo.reset() before the block, or make the first call in it"
        return [Missing("graphs and kernels", why)]
    have = {artifact.kind for artifact in frame.artifacts}
    missing = []
    if frame.status == "compiled" and frame.compiled_fn is not None and "Captured_Graph" not in have:
        missing.append(Missing("Captured_Graph", "PyTorch's structured trace did not report it"))
    if "kernel" in have or "AFTER_POST_GRAD" in have:
        missing += [Missing(kind, _why(bool(cached))) for kind in _NOT_IN_CACHE if kind not in have]
        there = {(one.kind, _direction(one)) for one in frame.artifacts}
        for direction in ("forward", "backward"):
            if not {("kernel", direction), ("AFTER_POST_GRAD", direction)} & there:
                continue
            graph = f"{direction.capitalize()}_graph"
            why = _ELSEWHERE if elsewhere else _why(direction in cached or None in cached)
            missing += [
                Missing(kind, why, direction)
                for kind in (graph, *_OF_DIRECTION_NOT_IN_CACHE, *(("AFTER_POST_GRAD",) if elsewhere else ()))
                if (kind, direction) not in there
            ]
        backward = any(artifact.direction == "backward" for artifact in frame.artifacts if artifact.kind == "kernel")
        if "Backward_graph" in have and not backward:
            missing.append(
                Missing(
                    "backward kernel", "backward was not called in the block: it is compiled when it is first called"
                )
            )
    return missing


def _why(cached: bool) -> str:
    return f"the result came from a cache; {_FRESH}" if cached else "Inductor did not report it"


def _direction(artifact: Artifact) -> str:
    return "backward" if artifact.direction == "backward" else "forward"


# The story of a function


def full_code(sections: list[Section], read: Callable[[str], str]) -> str:
    """One Python file that leads from the original function through guards, code and graphs to the end.

    Args:
        sections: the function, and after it the resume functions that its code leads to.
        read: gives the text of a file of the dump.
    """
    top = sections[0]
    out = [
        _remark(f"All that torch.compile made of {top.original.co_name}, to be read from top to bottom:"),
        "# the original function; then each compilation with its guards, the code that runs where they hold, and the",
        "# graph that this code calls; then the same for the functions that go on after graph breaks. To be read, not",
        "# run: the graphs of later stages and the kernels are in the files that are named.",
        "#",
    ]
    for section in sections:
        name = section.frames[0].resume_name or section.original.co_name
        for frame in section.frames:
            leads = [f"__compiled_fn_{frame.compiled_fn}"] if frame.compiled_fn is not None else []
            leads += frame.resume_calls
            arrow = f" -> {', '.join(leads)}" if leads else ""
            out.append(_remark(f"  {name}: compilation {frame.compile_id}{arrow}"))
    out += ["", "from __future__ import annotations", "", "import torch", "from torch import device, inf, nan"]
    known = {section.frames[0].resume_name for section in sections}
    number = itertools.count()
    for section in sections:
        out += _section(section, known, read, number)
    out += ["", f"#============ end of {names.one_line(top.original.co_name)} ============#", ""]
    return "\n".join(out)


def _section(section: Section, known: set[str | None], read: Callable[[str], str], number: Iterator[int]) -> list[str]:
    first = section.frames[0]
    place = f"{Path(first.filename).name}, line {first.line}"
    if first.is_resume:
        name = first.resume_name or first.function
        title = f"{name}: {first.function}, made by Dynamo to go on after a graph break ({place})"
        out = [*_title(title)]
    else:
        out = [*_title(f"{first.function}: the original function ({place})"), "", original_source(section.original)]
    for frame, guards in zip(section.frames, section.guards, strict=True):
        out += _title(f"{frame.resume_name or frame.function}: compilation {frame.compile_id}, {frame.status}")
        out += [_remark(f"Why: {_first_line(frame.error)}")] if frame.error else []
        out += [_remark(line) for line in [*reasons(frame), *symbol_rows(frame.symbols)]]
        if guards is not None:
            out += guard_function(guards, f"guard_{next(number)}")
        elif frame.guards:
            out += [
                "# Guards: the code below runs where all of these hold.",
                *(_remark(f"  {line}") for line in texts.conditions(frame.guards)),
            ]
        if frame.transformed_file:
            out += ["", f"# {frame.transformed_file}", _body(read(frame.transformed_file))]
        for name in frame.resume_calls:
            if name not in known:
                out += ["", _remark(f"{name} goes on after the graph break; it was not compiled in this block.")]
        captured = frame.files("Captured_Graph")
        if captured:
            name = f"__compiled_fn_{frame.compiled_fn}" if frame.compiled_fn is not None else "GraphModule"
            out += [
                "",
                f"# {captured[0]}: what {name} computes, as it was captured.",
                graph_body(read(captured[0]), name),
            ]
            later = [artifact.file for artifact in in_order(frame) if artifact.kind != "Captured_Graph"]
            if later:
                out += ["", f"# What the backend made of {name}, in this order:", *(f"#   {file}" for file in later)]
        for one in frame.missing:
            out.append(_remark(f"Missing: {one}."))
    return out


def _remark(text: str) -> str:
    """What PyTorch or a program's names say, as a comment."""
    return f"# {names.one_line(text)}".rstrip()


def reasons(frame: Frame) -> list[str]:
    """Why a function was compiled again, and where its graph ends."""
    out = []
    if frame.failures:
        out.append("Compiled again because of the guards that failed:")
        entries = dict.fromkeys(one.entry for one in frame.failures)
        for entry in entries:
            first, *others = [one for one in frame.failures if one.entry == entry]
            out.append(f"  of {entry or 'an earlier compilation'}: {first}")
            out += [f"    and {one}" for one in others]
    else:
        out += [f"Compiled again because {_first_line(reason)}" for reason in frame.recompile_reasons]
    out += [f"Graph break at {one}" for one in frame.breaks]
    return out


def symbol_table(frame: Frame, lead: str) -> list[str]:
    """The sizes that a graph leaves open, one line each."""
    return [f"{lead}{line}".rstrip() for line in symbol_rows(frame.symbols)]


def symbol_rows(symbols: list[Symbol]) -> list[str]:
    """The same without a lead; none if there are no symbols."""
    if not symbols:
        return []
    rows = [("symbol", "is", "was", "range", "set by")]
    for one in symbols:
        sources = ", ".join(in_terms(source) for source in one.sources)
        if one.specialized_by is not None or one.value:
            by = f"specialised to {one.value}"
            by += f" by {one.specialized_by}" if one.specialized_by is not None else ""
            by += f": {_first_line(one.reason)}" if one.reason else ""
        else:
            by = "; ".join(dict.fromkeys(origin(place) for place in (one.lower_from, one.upper_from) if place))
        rows.append((one.name, sources, one.hint, one.range, by))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[4]]) for row in rows]
    return ["Sizes that are left open:", *(f"  {line}".rstrip() for line in lines)]


def guard_function(guards: Guards, name: str) -> list[str]:
    """The guards as a function, with what a reader has to know of it."""
    head = [f"# The code below runs where {name}(L, G) is true: L has the local variables by name, G the global ones."]
    if any(one.live is not None for one in guards):
        head.append("# `live` is a list of PyTorch's own objects, for the guards that have no Python form.")
    return ["", *head, *guard_source(guards, name).rstrip("\n").splitlines()]


def original_source(code: types.CodeType) -> str:
    """A function as its author wrote it; decompiled where the file is not there or has no whole statement."""
    try:
        text = textwrap.dedent(inspect.getsource(code)).rstrip()
        compile(text, "<source>", "exec", dont_inherit=True)
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return "# Decompiled: the source is not at hand.\n" + decompiler.source_of(code).rstrip()
    return text


def in_order(frame: Frame) -> list[Any]:
    """The artifacts of a compilation in the order to read them in: as the stages come, forward before backward."""
    place = {kind: i for i, kind in enumerate(KINDS)}
    late = ("BEFORE_POST_GRAD", "AFTER_POST_GRAD", "ir_pre_fusion", "ir_post_fusion", "kernel")

    def key(artifact: Any) -> tuple[int, int, int]:
        backward = artifact.kind in late and artifact.direction == "backward"
        return (1 if artifact.kind in late else 0, int(backward), place.get(artifact.kind, -1))

    return sorted(frame.artifacts, key=key)


def _title(text: str) -> list[str]:
    return ["", "", "# " + "-" * _LINE, *(_remark(line) for line in textwrap.wrap(text, _LINE)), "# " + "-" * _LINE]


def _body(text: str) -> str:
    """A file of ours without its head comments."""
    lines = text.splitlines()
    kept = ("# proved", "# not proved", "# __const_", "# not exact")
    while lines and lines[0].startswith("#") and not lines[0].startswith(kept):
        lines.pop(0)
    return "\n".join(lines).strip()


def graph_body(text: str, name: str) -> str:
    """The class in the file of a graph, under another name; the comments where there is none."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("class ")]
    if not starts:
        return "\n".join(line for line in lines if line.startswith("#"))
    return _CLASS.sub(f"class {name}(torch.nn.Module):", "\n".join(lines[starts[0] :]).rstrip(), count=1)


# The directory


def merged_runs(directory: Path, session: Session) -> list[Session]:
    """The runs that the directory already tells of, and this one at the end; the same run is told of once."""
    runs: list[Session] = []
    path = directory / "session.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.get("schema_version") == SCHEMA_VERSION:
            runs = [Session.from_dict(one, str(directory)) for one in data["runs"]]
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        session.notes.append("The session.json that was in the directory could not be read, and was replaced.")
    mine = session.to_dict() if runs else None
    return [run for run in runs if run.to_dict() != mine] + [session]


def session_json(runs: list[Session]) -> str:
    """The content of `session.json`."""
    data = {"schema_version": SCHEMA_VERSION, "runs": [run.to_dict() for run in runs]}
    return _core.json_text(data, levels=6) + "\n"  # an artifact or a guard a line


def times_json(run: Session) -> str:
    """The content of `times.json`: of the last run how long each compilation took, in the order of `session.json`.

    A file of its own, as it is other in every run: what else is in a dump is the same where the program is.
    """
    return json.dumps({"schema_version": SCHEMA_VERSION, "seconds": [frame.seconds for frame in run.frames]}) + "\n"


def index(runs: list[Session]) -> str:
    """The content of `index.md`: what to read, in order, and what is not there."""
    out = ["# What torch.compile did", ""]
    if len(runs) > 1:
        out += [f"This directory tells of {len(runs)} runs, the last one first.", ""]
    for i, run in reversed(list(enumerate(runs, 1))):
        if len(runs) > 1:
            out += [f"# Run {i}", ""]
        out += _run(run)
    return "\n".join(out).rstrip() + "\n"


def _run(run: Session) -> list[str]:
    out = [f"PyTorch {run.torch_version}, Python {run.python_version}.", ""]
    for note in run.notes:
        out += [f"**Note.** {note}", ""]
    if run.full_code:
        out += ["## Read first", "", "One file a function, from its source through guards and code to the graphs:", ""]
        out += [
            f"1. [{one.file}]({one.file}): `{one.function}`, compilations {', '.join(one.compile_ids)}"
            for one in run.full_code
        ]
        out.append("")
    if found := run.distinct_breaks():
        out += ["## Graph breaks", "", "Each once, with the compilations that end there:", ""]
        for one, ids in found:
            out.append(f"- {one} In {', '.join(ids)}.")
            out += [f"  - The line: `{one.line.text}`"] if one.line is not None and one.line.text else []
            out += [f"  - {hint}" for hint in one.hints]
            out += [f"  - More: {one.link}"] if one.link else []
        out.append("")
    if run.frames:
        out += ["## Compilations, in the order in which they were made", ""]
    for frame in run.frames:
        out += _frame(frame)
    if run.other_artifacts:
        out += [
            "## Of no compilation",
            "",
            *(f"- [{one.file}]({one.file}): {one.kind}" for one in run.other_artifacts),
            "",
        ]
    return out


def _frame(frame: Frame) -> list[str]:
    out = [f"### {frame.compile_id}: `{frame.resume_name or frame.function}`", ""]
    if frame.is_resume:
        out.append(f"Goes on after a graph break: `{frame.function}`.")
    place = f"`{Path(frame.filename).name}`, line {frame.line}: " if frame.filename else ""
    restarts = f", after {frame.attempt} restart(s)" if frame.attempt else ""
    out.append(f"{place}{frame.status}{restarts}.")
    if frame.error:
        out.append(f"Why: {_first_line(frame.error)}")
    if told := reasons(frame):
        out += ["", *(f"    {line}" for line in told), ""]
    if frame.frontier:
        out += ["", "It is used again where all of these hold:", ""]
        out += [f"- `{one.condition}`" + (f" ({why})" if (why := one.why) else "") for one in frame.frontier]
        out.append("")
    if frame.symbols:
        out += ["", *symbol_table(frame, "    "), ""]
    if frame.resume_calls:
        out.append(f"Then calls {', '.join(f'`{name}`' for name in frame.resume_calls)}.")
    out.append("")
    if frame.transformed_file:
        proof = f"not proved: {frame.not_proved}" if frame.not_proved else "proved equivalent"
        out.append(f"- [{frame.transformed_file}]({frame.transformed_file}): the code that runs instead; {proof}")
    for artifact in in_order(frame):
        about = KINDS.get(artifact.kind, "a graph that was shown under this name")
        direction = f" ({artifact.direction})" if artifact.direction and artifact.kind not in ("Joint_graph",) else ""
        out.append(f"- [{artifact.file}]({artifact.file}): {about}{direction}")
    if frame.provenance:
        out += ["", "From source to kernels (all of it: [provenance.json](provenance.json)):", "", *frame.provenance]
    out += [f"- missing: {one}" for one in frame.missing]
    out += [f"- {note}" for note in frame.notes]
    out.append("")
    return out


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else ""
