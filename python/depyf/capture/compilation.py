"""The data that an open `prepare_debug` block keeps about one compilation.

A `prepare_debug` block can be open as long as the program runs, so its data about compilations consists of text and
numbers. The data about compilations has only weak references to objects of the program and of PyTorch (graph modules,
code objects, trees of guards).
"""

from __future__ import annotations

import threading
import types
from dataclasses import dataclass, field

from depyf import _core, names, resume_source, running, weak
from depyf.capture.guarding import Guarded
from depyf.provenance.collect import Collected
from depyf.session import Artifact, Frame, Symbol
from depyf.source_line import Line

numbers = weak.Numbers()
"""Gives each code object of a function or resume function a number, which is the same in all `prepare_debug` blocks. A
number is removed when its code object is freed, and nothing else clears `numbers`. `numbers` has no lock, as callers
hold the lock of a recorder; a forked child continues with its own copy of `numbers`."""


@dataclass(eq=False)
class Item:
    """An artifact whose file may have to be rewritten. The text of the artifact is kept until it is certain which
    number the files of the compilation have, and whether the artifact runs from its file."""

    kind: str
    text: str
    direction: str | None
    suffix: str
    graph: weak.Reference = weak.NOTHING
    """A weak reference to the graph module, if the graph may run from its file."""
    path: str | None = None
    """For a kernel: the path of the file that Inductor itself wrote."""
    announced: bool = False
    """For a kernel: true once PyTorch's trace has reported the kernel. Output code from a cache is loaded before the
    trace reports it."""
    artifact: Artifact | None = None
    created: bool = False
    swap: running.Swap | None = None
    frame: Frame | None = None
    """For a graph that runs from its file: the frame of its compilation."""
    nodes: tuple[str, ...] = ()
    """For a graph that runs from its file: the names of its nodes."""
    waiting_text: str = ""
    """The text of a graph's file, if the graph waits for the end of its compilation, and is expected to run from the
    file afterwards; "" for a graph that does not wait."""
    superseded: str = ""
    """The reason why a graph or kernel does not run from its file: the backend replaced the graph by other graphs or
    kernels, or an earlier file has the same output code; "" if no such reason is known."""


@dataclass
class Compilation:
    """A compilation of Dynamo's, with the data that has been recorded about it so far."""

    frame: Frame
    attempt: int = 0
    number: int | None = None
    items: list[Item] = field(default_factory=list)
    original: types.CodeType | None = None
    """A copy of the function's code that contains only plain data."""
    function: weak.Reference = weak.NOTHING
    """A weak reference to the function's own code object."""
    number_of_original: int = 0
    """The number of the function's code in `numbers`; 0 while it is unknown."""
    source: str | None = None
    """The source of the function, as it is written to the journal."""
    transformed: weak.Reference = weak.NOTHING
    """A weak reference to the code that runs in place of the function's own code."""
    resumes: dict[str, int | None] = field(default_factory=dict)
    """Maps the name of each resume function that the transformed code calls to the number of the resume function's code
    in `numbers`; to None if this code is unknown."""
    resume_places: dict[str, Line] = field(default_factory=dict)
    """Maps the name of each resume function that the transformed code calls to the user's line at which the resume
    function continues."""
    graphs: dict[str, weak.Reference] = field(default_factory=dict)
    """Maps a kind of graph to a weak reference to the last graph module of this kind that PyTorch passed to
    `lazy_format_graph_code`. An item of `graphs` is removed when the text of its graph arrives."""
    by_inductor: bool = False
    """True if Inductor is the backend, so that the captured graph itself runs only if Inductor generates no kernels for
    it."""
    by_aot: bool = False
    """True if the backend is known to run the graphs that AOTAutograd derives from the captured graph."""
    made_kernels: bool = False
    """True if Inductor generated output code for this compilation, and `settle` has already removed the kernels from
    `items`."""
    cached: set[str | None] = field(default_factory=set)
    """The directions ("forward", "backward") whose compilation was a hit in a cache. None stands for a cache hit that
    was reported before AOTAutograd began to compile the forward or backward."""
    elsewhere: bool = False
    """True if Inductor compiled in another process."""
    restored: bool = False
    """True if another process compiled the function, and this process loaded the result."""
    started: bool = False
    ended: bool = False
    """True once PyTorch reported the end of the compilation."""
    thread: int = field(default_factory=threading.get_ident)
    """The id of the thread that compiles the function."""
    guarded: Guarded | None = None
    specialized: list[Symbol] = field(default_factory=list)
    seen: Collected = field(default_factory=Collected)

    @property
    def stem(self) -> str:
        """Returns the common prefix of the names of the compilation's files."""
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
        """Releases the graphs, IR and kernels in `items`. This method must be called when all files of a compilation
        are written, and it is certain which graphs and kernels run from their files."""
        self.made_kernels = self.has_kernels
        self.items.clear()

    def add_resume(self, name: str, code: types.CodeType | None, original: types.CodeType) -> None:
        """Records that the transformed code calls the resume function with the code object `code` under the global name
        `name`.

        Args:
            original: the code object for which Dynamo generated the transformed code; it can itself be the code object
                of a resume function.
        """
        if name not in self.frame.resume_calls:
            self.frame.resume_calls.append(name)
        self.resumes[name] = None if code is None else numbers.of(code)
        if code is not None:
            line = resume_source.line_of(name, code, original)
            self.resume_places[name] = Line(code.co_filename, line or code.co_firstlineno)

    def set_original(self, code: types.CodeType) -> None:
        """Records `code` as the function's own code object, in place of which the transformed code runs."""
        self.original, self.number_of_original = _core.as_data(code), numbers.of(code)
        self.function = weak.reference(code)


def link_resume_names(order: list[Compilation]) -> list[Compilation]:
    """For each compilation of a resume function, stores in its frame the global names under which transformed code
    calls the resume function. Returns the compilations of resume functions in whose frames global names were stored."""
    # Dynamo creates only one code object for the resume function behind a graph break, but each compilation that ends
    # at this graph break calls the resume function under a different global name.
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
