"""The content of an explanation: plain data."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any

from depyf import _core
from depyf.costs import GuardCosts
from depyf.explanation import html
from depyf.session import Break, Failure, Limit, Symbol

SCHEMA_VERSION = 1
"""Of `Explanation.to_dict`. Fields may be added under the same number; a change of what one means raises it."""


@dataclass
class Graph:
    """A graph that transformed code calls."""

    name: str
    """`__compiled_fn_1`."""
    source: str | None
    """Readable Python; None if it is not there, which `missing` explains."""
    missing: str = ""


@dataclass
class Resume:
    """A function that Dynamo made to go on after a graph break."""

    name: str
    """`__resume_at_110_3`: the global that transformed code calls it by."""
    line: int | None
    """The line of the user's at which it goes on."""
    source: str
    """The user's own function, with a mark at that line."""
    explanation: Explanation | None
    """What was made of it; None if that is told elsewhere, or it is not there any more."""
    note: str = ""


@dataclass
class Entry:
    """A cache entry: one compilation."""

    compile_id: str
    backend: str
    why: list[str]
    """Why it was compiled, a sentence each."""
    seconds: float | None
    """How long that took; None if it was not recorded."""
    guards: str
    """The source of a function of `L` and `G` that says whether the entry may be used."""
    guard_lines: list[str]
    """The guards in PyTorch's words."""
    code: str
    """The source of the code that runs then."""
    proved: bool
    not_proved: str
    failures: list[Failure] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    at_run_time: list[str] = field(default_factory=list)
    """The values that are known only when a graph runs, and what it checks then, in lines."""
    unchecked: list[str] = field(default_factory=list)
    """What no guard checks although the code relies on it, in sentences: a filter dropped the guard."""
    frontier: list[Limit] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    resumes: list[Resume] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """What is not known, and what would tell it."""

    def alone(self) -> Explanation:
        """Returns an explanation that has only this entry. Its title is the compilation, as an entry does not know its function."""
        name = f"compilation {self.compile_id}"
        return Explanation(name, "", 0, self.backend, "auto", [self], title=name)

    def _repr_html_(self) -> str:
        return html.entry_html(self)


@dataclass
class Explanation:
    """What torch.compile made of a function. `str` of it is the whole story, `repr` one line."""

    function: str
    file: str
    line: int
    backend: str
    dynamic: str
    """"auto", "True" or "False", as given to torch.compile; "auto" also where only the original function was given."""
    entries: list[Entry] = field(default_factory=list)
    nothing: str = ""
    """Why there are no entries."""
    title: str = ""
    """The function for readers: its qualified name, file and line."""
    failed: list[str] = field(default_factory=list)
    """What is known of the last call that could not be compiled, in lines: an error, or a limit that is reached."""
    frontier: list[str] = field(default_factory=list)
    """What is compiled next: for each value that an entry fixes or bounds, what all entries together accept."""
    guard_costs: GuardCosts | None = None
    """What the lookup of a call costs; None unless `explain` was given the arguments of a call."""

    def __str__(self) -> str:
        return _core.explanation_text(_core.json_text(self, levels=0))

    def __repr__(self) -> str:
        return _core.explanation_headline(_core.json_text(self, levels=0))

    def _repr_html_(self) -> str:
        return html.html(self)

    def to_dict(self) -> dict[str, Any]:
        """Returns the explanation as data that JSON takes: `schema_version` (an int), and the fields of this class
        by name."""
        return {"schema_version": SCHEMA_VERSION, **dataclasses.asdict(self)}

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent)
