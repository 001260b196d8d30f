"""The data that an open `prepare_debug` block keeps about one compilation.

A `prepare_debug` block can be open as long as the program runs, so its data about compilations consists of text and
numbers. The data refers only weakly to objects of the program and of PyTorch (graph modules, code objects, trees of
guards).
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
"""The numbers of the code objects of functions and resume functions, which are the same in all `prepare_debug` blocks.
A number is removed when its code object is freed, and nothing else clears `numbers`. `numbers` has no lock, as callers
hold the lock of a recorder; a forked child continues with its copy."""


@dataclass(eq=False)
class Item:
    """An artifact whose file may have to be rewritten: its text is kept until it is certain which number the
    compilation has, and whether the artifact runs from its file."""

    kind: str
    text: str
    direction: str | None
    suffix: str
    graph: weak.Reference = weak.NOTHING
    """A weak reference to the graph module, if the graph may run from its file."""
    path: str | None = None
    """For a kernel: the path of Inductor's own file."""
    announced: bool = False
    """For a kernel: true once PyTorch's trace has reported it; output code from a cache is loaded before it is
    reported."""
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
    """The reason why the item does not run from its file: the backend replaced the graph by other graphs or kernels, or
    an earlier file has the same output code; "" if there is none."""


@dataclass
class Compilation:
    """One compilation of Dynamo's, with the data that has been recorded so far."""

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
    """Name of a resume function that the transformed code calls -> the number of its code in `numbers`; None if the
    code is unknown."""
    resume_places: dict[str, Line] = field(default_factory=dict)
    """Name of a resume function that the transformed code calls -> the user's line at which it continues."""
    graphs: dict[str, weak.Reference] = field(default_factory=dict)
    """Kind of graph -> a weak reference to the graph module that PyTorch showed last, until the text of the graph
    arrives."""
    by_inductor: bool = False
    """True if Inductor is the backend, so that a graph runs only if no kernels are generated from it."""
    by_aot: bool = False
    """True if the backend is known to run the graphs that AOTAutograd derives from the captured graph."""
    made_kernels: bool = False
    """True if Inductor generated output code whose items have already been removed from `items`."""
    cached: set[str | None] = field(default_factory=set)
    """The directions ("forward", "backward") that came from a cache; None stands for a cache hit before AOTAutograd
    began with a direction."""
    elsewhere: bool = False
    """True if Inductor compiled in another process."""
    restored: bool = False
    """True if another process compiled the function, and this process loaded the result."""
    started: bool = False
    ended: bool = False
    """True once PyTorch reported the end of the compilation."""
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
        """Releases the items, which are needed only until their files are written and it is decided which of them
        run."""
        self.made_kernels = self.has_kernels
        self.items.clear()

    def add_resume(self, name: str, code: types.CodeType | None, original: types.CodeType) -> None:
        """Records that the transformed code calls the resume function with this code under this name.

        Args:
            original: the code that was compiled, which can be that of a resume function.
        """
        if name not in self.frame.resume_calls:
            self.frame.resume_calls.append(name)
        self.resumes[name] = None if code is None else numbers.of(code)
        if code is not None:
            line = resume_source.line_of(name, code, original)
            self.resume_places[name] = Line(code.co_filename, line or code.co_firstlineno)

    def set_original(self, code: types.CodeType) -> None:
        """Records that the transformed code runs in place of `code`."""
        self.original, self.number_of_original = _core.as_data(code), numbers.of(code)
        self.function = weak.reference(code)


def link_resume_names(order: list[Compilation]) -> list[Compilation]:
    """Sets in each compilation of a resume function the global names under which transformed code calls the function.
    Returns the compilations of resume functions that were changed."""
    # Dynamo creates one resume function's code object for each graph break, but every compilation that ends at this
    # break calls it under another global name.
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
