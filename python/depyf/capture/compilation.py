"""What a block knows of one compilation while it is at work."""

from __future__ import annotations

import types
import weakref
from dataclasses import dataclass, field
from typing import Any

from depyf import names, resume_source, running
from depyf.capture.guarding import Guarded
from depyf.provenance.collect import Collected
from depyf.session import Artifact, Frame, Symbol
from depyf.source_line import Line


@dataclass(eq=False)
class Item:
    """An artifact on its way: its text is kept until the compilation's number, and what runs, are known for certain."""

    kind: str
    text: str
    direction: str | None
    suffix: str
    graph: Any = None
    """The graph module, if it can be what runs."""
    path: str | None = None
    """Of a kernel: Inductor's own file."""
    artifact: Artifact | None = None
    created: bool = False
    swap: running.Swap | None = None
    modules: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)
    """The graph module and its copies."""
    nodes: tuple[str, ...] = ()


@dataclass
class Compilation:
    """One compilation, as far as it has come."""

    frame: Frame
    attempt: int = 0
    number: int | None = None
    items: list[Item] = field(default_factory=list)
    original: types.CodeType | None = None
    source: str | None = None
    """The source of the function, as it is noted in the journal."""
    transformed: types.CodeType | None = None
    resumes: dict[str, types.CodeType | None] = field(default_factory=dict)
    resume_places: dict[str, Line] = field(default_factory=dict)
    """The user's lines at which its resume functions go on, by their names."""
    graphs: dict[str, Any] = field(default_factory=dict)
    """Kind -> the graph module that was shown last, whose text comes next."""
    by_inductor: bool = False
    """Is Inductor the backend? Then graphs run only where no kernels are made of them."""
    cached: set[str | None] = field(default_factory=set)
    """The directions that came from a cache; None of what was asked for before there were any."""
    elsewhere: bool = False
    """Did Inductor compile it in another process?"""
    started: bool = False
    ended: bool = False
    """Has PyTorch said so?"""
    guarded: Guarded | None = None
    specialized: list[Symbol] = field(default_factory=list)
    seen: Collected = field(default_factory=Collected)

    @property
    def stem(self) -> str:
        """What the names of its files begin with."""
        if self.number is not None:
            return f"__compiled_fn_{self.number}"
        return f"__compile_{names.safe_file_part(self.frame.compile_id)}"

    @property
    def has_kernels(self) -> bool:
        """Did Inductor make output code?"""
        return any(item.kind == "kernel" for item in self.items)

    def add_resume(self, name: str, code: types.CodeType | None, original: types.CodeType) -> None:
        """Its transformed code calls the resume function with this code under this name.

        Args:
            original: the function's code, or that of the resume function that it is.
        """
        if name not in self.frame.resume_calls:
            self.frame.resume_calls.append(name)
        self.resumes[name] = code
        if code is not None:
            line = resume_source.line_of(name, code, original)
            self.resume_places[name] = Line(code.co_filename, line or code.co_firstlineno)


def link_resume_names(order: list[Compilation]) -> list[Compilation]:
    """Gives each compilation of a resume function the names by which it is called. Returns those that have any."""
    # Dynamo keeps one code object for a break, and calls it by another name in each compilation that ends there.
    known: dict[int, list[str]] = {}
    for compile in order:
        for name, code in compile.resumes.items():
            if code is not None:
                known.setdefault(id(code), []).append(name)
    linked = [compile for compile in order if compile.frame.is_resume and id(compile.original) in known]
    for compile in linked:
        compile.frame.resume_names = list(dict.fromkeys(known[id(compile.original)]))
        compile.frame.resume_name = compile.frame.resume_names[0]
    return linked
