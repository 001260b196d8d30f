"""Builds the page of an explanation for notebooks: an HTML document of the same form as the report of a dump."""

from __future__ import annotations

import dataclasses
import html
import json
import linecache
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from depyf import page
from depyf.session import Break
from depyf.source_line import Line

if TYPE_CHECKING:
    from depyf.explanation.model import Entry, Explanation

FRAME_SIZE_MAX = 2_000_000
"""The largest number of characters of a page in a notebook, which is limited because each page becomes a part of the
notebook's file."""
HEIGHT = 640  # the height of the frame in pixels
IN_PYTORCHS_WORDS = "in PyTorch's words, "


def report(explanation: Explanation) -> str:
    """Returns the page of an explanation, which is a whole HTML document.

    Raises:
        OSError: the page could not be written, because there is no directory for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="depyf-") as directory:
        folder = Path(directory)
        frames: list[dict[str, Any]] = []
        seconds: list[float | None] = []
        _add(explanation, folder, frames, seconds, function=explanation.function, resume_name="")
        session = {
            "schema_version": 1,
            "runs": [{**_versions(), "working_directory": str(Path.cwd()), "frames": frames}],
        }
        (folder / "session.json").write_text(json.dumps(session), encoding="utf-8")
        (folder / "times.json").write_text(json.dumps({"seconds": seconds}), encoding="utf-8")
        path = folder / "page.html"
        page.write_page([folder], path, f"depyf.explain({explanation.function})")
        return path.read_text(encoding="utf-8")


def frame(document: str) -> str:
    """Returns an HTML frame that contains a page. The frame is a sandbox: the script of the page cannot access the
    notebook.

    Returns an empty text if the page is larger than `FRAME_SIZE_MAX`.
    """
    if len(document) > FRAME_SIZE_MAX:
        return ""
    return (
        f"<iframe sandbox='allow-scripts allow-downloads' title='torch.compile report' loading='lazy' "
        f"style='width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:6px' "
        f'srcdoc="{html.escape(document, quote=True)}"></iframe>'
    )


def _versions() -> dict[str, str]:
    import platform

    try:
        import torch
    except ImportError:
        torch_version = ""
    else:
        torch_version = str(torch.__version__)
    return {"torch_version": torch_version, "python_version": platform.python_version()}


def _add(
    explanation: Explanation,
    folder: Path,
    frames: list[dict[str, Any]],
    seconds: list[float | None],
    *,
    function: str,
    resume_name: str,
) -> None:
    """Adds a frame in the form of `session.json` for each cache entry of a function and of its resume functions, and
    writes the entries' texts as files.

    Args:
        explanation: the explanation of the function, or of a resume function.
        folder: the directory for the files.
        frames: the list to which the frames are added.
        seconds: the list to which the seconds of each frame are added.
        function: the name of the user's own function, which is shown for resume functions too, in place of Dynamo's
            names.
        resume_name: the name of the global by which transformed code calls the resume function; "" if the function is
            not a resume function.
    """
    for entry in explanation.entries:
        prefix = f"{len(frames)}"
        (folder / f"{prefix}.code.py").write_text(entry.code, encoding="utf-8", errors="backslashreplace")
        (folder / f"{prefix}.guards.py").write_text(entry.guards, encoding="utf-8", errors="backslashreplace")
        artifacts = []
        for number, graph in enumerate(entry.graphs):
            if graph.source is None:
                continue
            file = f"{prefix}.graph{number}.py"
            (folder / file).write_text(graph.source, encoding="utf-8", errors="backslashreplace")
            artifacts.append({"kind": "Captured_Graph", "file": file, "direction": None})
        frames.append(
            {
                "compile_id": entry.compile_id,
                "function": explanation.function,
                "filename": explanation.file,
                "line": explanation.line,
                "name": function,
                "status": "compiled",
                "is_resume": bool(resume_name),
                "resume_names": [resume_name] if resume_name else [],
                "resume_calls": [resume.name for resume in entry.resumes],
                "transformed_file": f"{prefix}.code.py",
                "guards_file": f"{prefix}.guards.py",
                "proved": entry.proved,
                "not_proved": entry.not_proved,
                "recompile_reasons": [
                    why.partition(IN_PYTORCHS_WORDS)[2] for why in entry.why if IN_PYTORCHS_WORDS in why
                ],
                "failures": [dataclasses.asdict(failure) for failure in entry.failures],
                "breaks": [
                    dataclasses.asdict(graph_break) for graph_break in entry.breaks or _breaks_of(entry, explanation)
                ],
                "symbols": [dataclasses.asdict(symbol) for symbol in entry.symbols],
                "frontier": [dataclasses.asdict(limit) for limit in entry.frontier],
                "notes": entry.missing,
                "artifacts": artifacts,
            }
        )
        seconds.append(entry.seconds)
        for resume in entry.resumes:
            if resume.explanation is not None:
                _add(resume.explanation, folder, frames, seconds, function=function, resume_name=resume.name)


def _breaks_of(entry: Entry, explanation: Explanation) -> list[Break]:
    """Returns the graph breaks of an entry as far as they are known from its resume functions, for an entry whose graph
    breaks were not recorded."""
    return [
        Break(
            "Graph break",
            "Its reason is not known: depyf.prepare_debug, entered before the function is compiled, records it",
            line=Line(explanation.file, resume.line, linecache.getline(explanation.file, resume.line).strip()),
        )
        for resume in entry.resumes
        if resume.line is not None
    ]
