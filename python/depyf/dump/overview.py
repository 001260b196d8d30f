"""The record of a dump for readers: `index.md`."""

from __future__ import annotations

from depyf import names
from depyf.dump.not_compiled import details, headline, hints
from depyf.dump.reasons import reasons, runtime_rows, symbol_rows
from depyf.dump.stages import KINDS, in_order
from depyf.markdown import code, literal, prose
from depyf.session import Break, Frame, Session


def index(runs: list[Session]) -> str:
    """The content of `index.md`: what to read, in order, and what is not there."""
    out = ["# What torch.compile did", ""]
    if len(runs) > 1:
        out += [f"This directory tells of {len(runs)} runs, the last one first.", ""]
    for i, run in reversed(list(enumerate(runs, 1))):
        if len(runs) > 1:
            out += [f"# Run {i}", ""]
        out += _run(run)
    return names.one_line_each(out).rstrip() + "\n"


def _run(run: Session) -> list[str]:
    out = [f"PyTorch {run.torch_version}, Python {run.python_version}.", ""]
    for note in run.notes:
        out += [f"**Note.** {prose(note)}", ""]
    if failed := [frame for frame in run.frames if frame.error]:
        out += ["## Not compiled", ""]
        for frame in failed:
            out += [_headline(frame), "", *(f"    {line}" for line in details(frame)), ""]
    if run.full_code:
        out += ["## Read first", "", "One file a function, from its source through guards and code to the graphs:", ""]
        out += [
            f"1. [{one.file}]({one.file}): {code(one.title or one.function)}, compilations {', '.join(one.compile_ids)}"
            for one in run.full_code
        ]
        out.append("")
    if found := run.distinct_breaks():
        out += ["## Graph breaks", "", "Each once, with the compilations that end there:", ""]
        for one, ids in found:
            functions = "; ".join(f"{code(name)}, {', '.join(group)}" for name, group in run.by_function(ids))
            out.append(f"- {_break(one)} In {functions}.")
            out += [f"  - {prose(line)}" for line in hints(one)]
        out.append("")
    if run.frames:
        out += ["## Compilations, in the order in which they were made", ""]
    resumed: dict[str, list[str]] = {}
    for frame in run.frames:
        for name in frame.resume_names:
            resumed.setdefault(name, []).append(frame.compile_id)
    for frame in run.frames:
        out += _frame(frame, resumed)
    if run.other_artifacts:
        out += [
            "## Of no compilation",
            "",
            *(f"- [{one.file}]({one.file}): {prose(one.kind)}" for one in run.other_artifacts),
            "",
        ]
    return out


def _headline(frame: Frame) -> str:
    """Returns the sentence on a frame that was not compiled, which begins with its title."""
    return code(frame.title) + prose(headline(frame).removeprefix(frame.title))


def _break(at: Break) -> str:
    """Returns the sentences on a graph break; a place may have source of the program in a code span."""
    place = literal(at.where) if at.inside is None else prose(at.where)
    return place + prose(str(at).removeprefix(at.where))


def _frame(frame: Frame, resumed: dict[str, list[str]]) -> list[str]:
    """Returns the section of a compilation; `resumed` has the compile ids of resume functions by their names."""
    out = [f"### {frame.compile_id}: {code(frame.title)}", ""]
    if frame.is_resume:
        called = f", called as {', '.join(map(code, frame.resume_names))}" if frame.resume_names else ""
        out.append(f"Goes on after a graph break: {code(frame.function)}{called}.")
    restarts = f", after {frame.attempt} restart(s)" if frame.attempt else ""
    is_ahead = frame.status == "not compiled" and frame.notes and not frame.error
    if not is_ahead:  # its note says what it is
        out.append(f"{frame.status[0].upper()}{frame.status[1:]}{restarts}.")
    if frame.status == "not compiled" and not is_ahead:
        out.append(_headline(frame))
    if told := reasons(frame):
        out += ["", *(f"    {line}" for line in told), ""]
    if frame.frontier:
        out += ["", "It is used again where all of these hold:", ""]
        out += [f"- {code(one.condition)}" + (f" ({prose(why)})" if (why := one.why) else "") for one in frame.frontier]
        out.append("")
    if frame.symbols:
        out += ["", *(f"    {line}".rstrip() for line in symbol_rows(frame.symbols)), ""]
    if values := runtime_rows(frame):
        out += ["", *(f"    {line}" for line in values), ""]
    if frame.resume_calls:
        calls = [
            f"{code(name)} ({', '.join(resumed[name]) if name in resumed else 'not compiled in this block'})"
            for name in frame.resume_calls
        ]
        out.append(f"Then calls {', '.join(calls)}.")
    out.append("")
    if frame.transformed_file:
        proof = f"not proved: {prose(frame.not_proved)}" if frame.not_proved else "proved equivalent"
        out.append(f"- [{frame.transformed_file}]({frame.transformed_file}): the code that runs instead; {proof}")
    for artifact in in_order(frame):
        about = KINDS.get(artifact.kind, "a graph that was shown under this name")
        direction = f" ({artifact.direction})" if artifact.direction and artifact.kind not in ("Joint_graph",) else ""
        out.append(f"- [{artifact.file}]({artifact.file}): {about}{direction}")
    if frame.provenance:
        out += ["", "From source to kernels (all of it: [provenance.json](provenance.json)):", "", *frame.provenance]
    out += [f"- missing: {prose(str(one))}" for one in frame.missing]
    out += [f"- {prose(note)}" for note in frame.notes]
    out.append("")
    return out
