"""The data that a block holds of one compilation while it is at work.

A block may be open for as long as the program runs, so what is kept here is text and numbers. Objects of the program and of
PyTorch (graph modules, code objects, trees of guards) are referred to weakly.
"""

from __future__ import annotations

import types
from dataclasses import dataclass, field

from depyf import _core, names, resume_source, running, weak
from depyf.capture.guarding import Guarded
from depyf.provenance.collect import Collected
from depyf.session import Artifact, Frame, Symbol
from depyf.source_line import Line

numbers = weak.Numbers()
"""Numbers of the code objects of functions and resume functions, the same in all blocks. A number goes with its code,
and nothing else clears it. It has no lock, as callers hold the lock of a recorder; a forked child goes on with its
copy."""


@dataclass(eq=False)
class Item:
    """An artifact on its way: its text is kept until the compilation's number, and what runs, are known for certain."""

    kind: str
    text: str
    direction: str | None
    suffix: str
    graph: weak.Reference = weak.NOTHING
    """Refers to the graph module, if it can be what runs."""
    path: str | None = None
    """Of a kernel: Inductor's own file."""
    artifact: Artifact | None = None
    created: bool = False
    swap: running.Swap | None = None
    frame: Frame | None = None
    """Of the compilation that a graph belongs to which runs from its file."""
    nodes: tuple[str, ...] = ()
    """The names of the nodes of a graph that runs from its file."""
    waiting_text: str = ""
    """Of a graph that is expected to run from its file once its compilation has ended: the text of the file."""
    superseded: str = ""
    """Why a graph does not run as it is, known since the backend made something else of it."""


@dataclass
class Compilation:
    """One compilation, as far as it has come."""

    frame: Frame
    attempt: int = 0
    number: int | None = None
    items: list[Item] = field(default_factory=list)
    original: types.CodeType | None = None
    """A copy of the function's code, of plain data alone."""
    function: weak.Reference = weak.NOTHING
    """Refers to the function's code itself."""
    number_of_original: int = 0
    """The number of the function's code in `numbers`; 0 as long as it is not known."""
    source: str | None = None
    """The source of the function, as it is noted in the journal."""
    transformed: weak.Reference = weak.NOTHING
    """Refers to the code that runs in place of the function's."""
    resumes: dict[str, int | None] = field(default_factory=dict)
    """The names of the resume functions that the transformed code calls, with the numbers of their codes in `numbers`."""
    resume_places: dict[str, Line] = field(default_factory=dict)
    """The user's lines at which its resume functions go on, by their names."""
    graphs: dict[str, weak.Reference] = field(default_factory=dict)
    """Kind -> what refers to the graph module that was shown last, whose text comes next."""
    by_inductor: bool = False
    """Is Inductor the backend? Then graphs run only where no kernels are made of them."""
    by_aot: bool = False
    """Is the backend known to run the graphs that AOTAutograd makes?"""
    made_kernels: bool = False
    """Did Inductor make output code before what is in `items`?"""
    cached: set[str | None] = field(default_factory=set)
    """The directions that came from a cache; None of what was asked for before there were any."""
    elsewhere: bool = False
    """Did Inductor compile it in another process?"""
    restored: bool = False
    """Was it made in another process, and loaded here?"""
    started: bool = False
    ended: bool = False
    """Has PyTorch said so?"""
    guarded: Guarded | None = None
    specialized: list[Symbol] = field(default_factory=list)
    seen: Collected = field(default_factory=Collected)

    @property
    def stem(self) -> str:
        """Returns the beginning of the names of the compilation's files."""
        if self.number is not None:
            return f"__compiled_fn_{self.number}"
        return f"__compile_{names.safe_file_part(self.frame.compile_id)}"

    @property
    def has_kernels(self) -> bool:
        """True if Inductor generated output code."""
        return self.made_kernels or any(item.kind == "kernel" for item in self.items)

    @property
    def has_lowered(self) -> bool:
        """True if AOTAutograd derived graphs from the captured graph."""
        return any(item.kind == "Forward_graph" for item in self.items)

    def settle(self) -> None:
        """Releases the data that only matters until the files of its items are written and it is decided which of
        them run."""
        self.made_kernels = self.has_kernels
        self.items.clear()

    def add_resume(self, name: str, code: types.CodeType | None, original: types.CodeType) -> None:
        """Records that the transformed code calls the resume function with this code under this name.

        Args:
            original: the function's code, or that of the resume function that it is.
        """
        if name not in self.frame.resume_calls:
            self.frame.resume_calls.append(name)
        self.resumes[name] = None if code is None else numbers.of(code)
        if code is not None:
            line = resume_source.line_of(name, code, original)
            self.resume_places[name] = Line(code.co_filename, line or code.co_firstlineno)

    def set_original(self, code: types.CodeType) -> None:
        """Records that the transformed code runs in place of this code."""
        self.original, self.number_of_original = _core.as_data(code), numbers.of(code)
        self.function = weak.reference(code)


def link_resume_names(order: list[Compilation]) -> list[Compilation]:
    """Gives each compilation of a resume function the names by which it is called. Returns those that have any."""
    # Dynamo keeps one code object for a break, and calls it by another name in each compilation that ends there.
    known: dict[int, list[str]] = {}
    for compile in order:
        for name, number in compile.resumes.items():
            if number is not None:
                known.setdefault(number, []).append(name)
    linked = [compile for compile in order if compile.frame.is_resume and compile.number_of_original in known]
    for compile in linked:
        compile.frame.resume_names = list(dict.fromkeys(known[compile.number_of_original]))
        compile.frame.resume_name = compile.frame.resume_names[0]
    return linked
