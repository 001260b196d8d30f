"""The data that a block holds about one compilation while the block is open.

A block can be open as long as the program runs, so only text and numbers are kept here. Objects of the program and of
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
    """An artifact that is not yet written for good: its text is kept until the compilation's number and what runs are
    certain."""

    kind: str
    text: str
    direction: str | None
    suffix: str
    graph: weak.Reference = weak.NOTHING
    """A reference to the graph module, if it can be what runs."""
    path: str | None = None
    """For a kernel: the path of Inductor's own file."""
    announced: bool = False
    """For a kernel: true once PyTorch's trace has told of it; what comes from a cache is loaded before that."""
    artifact: Artifact | None = None
    created: bool = False
    swap: running.Swap | None = None
    frame: Frame | None = None
    """For a graph that runs from its file: the frame of its compilation."""
    nodes: tuple[str, ...] = ()
    """For a graph that runs from its file: the names of its nodes."""
    waiting_text: str = ""
    """For a graph that is expected to run from its file once its compilation has ended: the text of the file."""
    superseded: str = ""
    """The reason why the item does not run from its file: a backend made something else of a graph, or an earlier file
    has the same output code."""


@dataclass
class Compilation:
    """One compilation, with what is known of it so far."""

    frame: Frame
    attempt: int = 0
    number: int | None = None
    items: list[Item] = field(default_factory=list)
    original: types.CodeType | None = None
    """A copy of the function's code that contains only plain data."""
    function: weak.Reference = weak.NOTHING
    """A reference to the function's code itself."""
    number_of_original: int = 0
    """The number of the function's code in `numbers`; 0 while it is unknown."""
    source: str | None = None
    """The source of the function, as the journal has it."""
    transformed: weak.Reference = weak.NOTHING
    """A reference to the code that runs in the place of the function's."""
    resumes: dict[str, int | None] = field(default_factory=dict)
    """The names of the resume functions that the transformed code calls, with the numbers of their codes in `numbers`."""
    resume_places: dict[str, Line] = field(default_factory=dict)
    """The user's lines at which its resume functions continue, by their names."""
    graphs: dict[str, weak.Reference] = field(default_factory=dict)
    """kind -> a reference to the graph module that was shown last, whose text follows"""
    by_inductor: bool = False
    """True if Inductor is the backend. Then a graph runs only if no kernels are made of it."""
    by_aot: bool = False
    """True if the backend is known to run the graphs that AOTAutograd makes."""
    made_kernels: bool = False
    """True if Inductor made output code before what is in `items`."""
    cached: set[str | None] = field(default_factory=set)
    """The directions that came from a cache; None for what was requested before there were any."""
    elsewhere: bool = False
    """True if Inductor compiled in another process."""
    restored: bool = False
    """True if another process made the compilation, and this one loaded it."""
    started: bool = False
    ended: bool = False
    """True once PyTorch reported the end of the compilation."""
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
        """Releases the data that is only needed until the files of its items are written and it is decided which of
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
    """Gives each compilation of a resume function the names by which the function is called. Returns those
    compilations."""
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
