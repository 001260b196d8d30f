"""The content of an explanation of a compiled function, as plain data."""

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
"""The version of the data that `Explanation.to_dict` returns. A new field does not change `SCHEMA_VERSION`; another
meaning of a field increases it."""


@dataclass
class Graph:
    """A graph that transformed code calls."""

    name: str
    """The name of the graph in the source of transformed code, such as `__compiled_fn_1`."""
    source: str | None
    """The graph as readable Python; None if the graph is not available, for the reason in `missing`."""
    missing: str = ""


@dataclass
class Resume:
    """A resume function, which Dynamo generated to continue a function after a graph break."""

    name: str
    """The global that transformed code calls, such as `__resume_at_110_3`."""
    line: int | None
    """The user's line at which the function continues; None if it is unknown."""
    source: str
    """The source of the user's own function; a comment marks the line at which the resume function continues."""
    explanation: Explanation | None
    """The explanation of the resume function; None if another `Resume` contains it, or if the function was deleted."""
    note: str = ""


@dataclass
class Entry:
    """A cache entry of Dynamo, which is the result of one compilation."""

    compile_id: str
    backend: str
    why: list[str]
    """Sentences about why the entry was compiled."""
    seconds: float | None
    """The duration of the compilation in seconds; None if it was not recorded."""
    guards: str
    """The source of a function of `L` and `G` that returns whether the entry may be used."""
    guard_lines: list[str]
    """The guards in PyTorch's own form."""
    code: str
    """The source of the code that runs if the guards hold."""
    proved: bool
    not_proved: str
    failures: list[Failure] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    at_run_time: list[str] = field(default_factory=list)
    """Lines about the values that are known only when a graph runs, and about the checks that the graph makes at run
    time."""
    unchecked: list[str] = field(default_factory=list)
    """Sentences about values that the code relies on and no guard checks, because a filter dropped the guard."""
    frontier: list[Limit] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    resumes: list[Resume] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Sentences about facts on the cache entry that are unknown, and about how they can be found out."""

    def alone(self) -> Explanation:
        """Returns an explanation that contains only this entry. An entry does not record its function, so the title
        names the compilation."""
        name = f"compilation {self.compile_id}"
        return Explanation(name, "", 0, self.backend, "auto", [self], title=name)

    def _repr_html_(self) -> str:
        return html.entry_html(self)


@dataclass
class Explanation:
    """The code and graphs that torch.compile generated for a function. `str(explanation)` returns the whole explanation
    as a text, and `repr(explanation)` returns one line."""

    function: str
    file: str
    line: int
    backend: str
    dynamic: str
    """The argument `dynamic` of torch.compile: "True", "False", or "auto" if it is None or only the original function
    was given.
    """
    entries: list[Entry] = field(default_factory=list)
    nothing: str = ""
    """The reason why there are no cache entries; "" if there are some."""
    title: str = ""
    """The function's title: its qualified name, file and line."""
    failed: list[str] = field(default_factory=list)
    """Lines about the last call that could not be compiled; they state an error, or the limit that was reached."""
    frontier: list[str] = field(default_factory=list)
    """For each value that an entry fixes or bounds, a line on the values that all entries together accept; a call with
    other values is compiled again."""
    guard_costs: GuardCosts | None = None
    """The cost of looking up the entry of a call; None unless `explain` was given the arguments of a call."""

    def __str__(self) -> str:
        return _core.explanation_text(_core.json_text(self, levels=0))

    def __repr__(self) -> str:
        return _core.explanation_headline(_core.json_text(self, levels=0))

    def _repr_html_(self) -> str:
        return html.html(self)

    def to_dict(self) -> dict[str, Any]:
        """Returns the explanation as JSON data: `schema_version` (an int), and the fields of this class by name."""
        return {"schema_version": SCHEMA_VERSION, **dataclasses.asdict(self)}

    def to_json(self, indent: int | None = None) -> str:
        """Returns the result of `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)
