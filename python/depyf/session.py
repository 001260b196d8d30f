"""The record of one block under `prepare_debug`: plain data, readable without torch.

The schema is in one file, as its types refer to each other.
"""

from __future__ import annotations

import json
import os
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depyf import _core, page
from depyf.plain_data import load, plain
from depyf.source_line import Line

SCHEMA_VERSION = 1


@dataclass
class Artifact:
    """One file that belongs to a compilation."""

    kind: str
    """As in the file's name: `Captured_Graph`, `kernel`, `ir_pre_fusion`, ..."""
    file: str
    direction: str | None = None
    """"forward", "backward", "joint"; None where it has no meaning."""
    running: bool = False
    """Is this file what runs? Of a graph: where the backend runs the graph as it is."""


@dataclass
class Missing:
    """An artifact that a reader may look for and that is not there."""

    kind: str
    why: str
    direction: str | None = None
    """"forward" or "backward"; None where it has no meaning."""

    def __str__(self) -> str:
        return f"{self.kind}{f' ({self.direction})' if self.direction else ''}: {self.why}"


@dataclass(frozen=True)
class Failure:
    """A guard that does not hold, all in the user's terms."""

    condition: str
    """What must hold: `self.scale == 1.0`."""
    subject: str
    """The value that it is about."""
    expected: str
    actual: str
    line: Line | None = None
    """The user's line that needs the guard."""
    kind: str = ""
    """The kind of guard, as PyTorch calls it."""
    entry: str = ""
    """The compile id of the compilation that it belongs to."""
    origin: str = ""
    """What in PyTorch set it, where that is no line of the user's."""
    is_state: bool = False
    """True if it is about the state of the process, such as grad mode or autocast, and not about a value."""
    alike: list[str] = field(default_factory=list)
    """Other values for which the same fails in the same way: the flag `training` of each submodule."""
    follows: list[str] = field(default_factory=list)
    """Values whose guards fail only because of this: the items of a list that is shorter, the dispatch keys of each tensor
    under autocast."""

    def __str__(self) -> str:
        return _in_words("failures", self, "guards")


@dataclass(frozen=True)
class Limit:
    """A condition on the next call. A call that does not meet it is not served by the compilation that has it."""

    condition: str
    """In the user's terms: `2 <= x.shape[0] <= 64`."""
    subject: str = ""
    """The value that it is about, `x.shape[0]`; "" where it is about several, or the state of the process."""
    line: Line | None = None
    """The user's line that needs it."""
    origin: str = ""
    """What in PyTorch set it, where that is no line of the user's."""

    @property
    def why(self) -> str:
        """What needs it; "" if that is not known, or nothing in particular."""
        return "; ".join(part for part in (self.origin, "" if self.line is None else str(self.line)) if part)

    def __str__(self) -> str:
        return f"{self.condition}  # {self.why}" if self.why else self.condition


@dataclass(frozen=True)
class Break:
    """A graph break."""

    reason: str
    explanation: str = ""
    hints: list[str] = field(default_factory=list)
    line: Line | None = None
    """The user's line at which the graph ends."""
    link: str = ""
    inside: Line | None = None
    """The line of PyTorch's own at which the graph ends, if `line` only led there."""
    then: str = ""
    """Why Dynamo could not even compile what comes before the break; "" where it could."""

    @property
    def key(self) -> tuple[str, ...]:
        """The same for the same break in several compilations."""
        places = [f"{line.file}:{line.line}" if line is not None else "" for line in (self.line, self.inside)]
        return (self.reason, *places)

    @property
    def where(self) -> str:
        """The place: PyTorch's own line first if the break is there, then the user's that led there."""
        return _in_words("breaks", self, "places")

    def __str__(self) -> str:
        return _in_words("breaks", self, "breaks")


@dataclass(frozen=True)
class Symbol:
    """A size that a graph leaves open, or left open until something specialised it."""

    name: str
    sources: list[str]
    """Dynamo's expressions for it: `L['x'].size()[0]`."""
    hint: str = ""
    """The value in the call that was compiled."""
    range: str = ""
    """The values that are allowed, `[2, 64]`; "int_oo" is infinity."""
    lower_from: str = ""
    upper_from: str = ""
    """What set the bound, in PyTorch's words: a place in PyTorch, or a line of the user's."""
    value: str = ""
    """The one value that it was specialised to."""
    specialized_by: Line | None = None
    """The user's line that needs the one value."""
    reason: str = ""
    terms: list[str] = field(default_factory=list)
    """The sources in the user's terms: `x.shape[0]`."""


@dataclass(frozen=True)
class RuntimeValue:
    """A size or number that is known only when the graph runs: an unbacked symbol."""

    name: str
    """`u0`."""
    range: str = ""
    """The values that it can have, `[2, 10]`; "int_oo" is infinity."""
    line: Line | None = None
    """The user's line that makes it."""


@dataclass(frozen=True)
class RuntimeAssert:
    """A condition on values that are known only when the graph runs; the graph checks it then."""

    condition: str
    """`u0 >= 2`."""
    line: Line | None = None
    """The user's line that needs it."""
    message: str = ""
    """What the error says, if the program gave a text for it."""


@dataclass(frozen=True)
class Exceeded:
    """A limit on the number of compilations of a function, which a call has reached."""

    limit: str
    """The name of the setting without `torch._dynamo.config.` before it: `recompile_limit`."""
    value: int | None = None
    compile_ids: list[str] = field(default_factory=list)
    """The compilations that use it up."""
    reasons: list[str] = field(default_factory=list)
    """Why each of them was made; "" where that is not known."""
    accepted: list[str] = field(default_factory=list)
    """What they accept together of the values in which they differ, a line each: `x.shape[0] == 2 or x.shape[0] == 3`."""
    still_used: bool = True
    """True if calls that one of them accepts go on using it."""


@dataclass
class Outcome:
    """Which function a compilation is of, and how the compilation ended."""

    compile_id: str
    """Dynamo's: "0/1" is the second compilation of the first function."""
    function: str
    """The name in the code object; Dynamo's own of a resume function."""
    filename: str = ""
    line: int = 0
    status: str = "not compiled"
    """One of "compiled", "not compiled" (it runs as it was written, or the error went to the caller), "compiled before"
    (the block was entered)."""
    error: str | None = None
    """Why it was not compiled, in PyTorch's words; None also where Dynamo found nothing to do."""
    name: str = ""
    """The qualified name: `LM.forward`, of a wrapper with what it wraps; of a resume function that of the function that
    it goes on with. See `title`."""
    raised: bool = False
    """Of a function that was not compiled: did the program's call raise the error? Else it runs as it was written."""
    stopped_by: Break | None = None
    """The graph break that is the reason why it was not compiled."""
    exceeded: Exceeded | None = None
    """The limit that is the reason why it was not compiled."""


@dataclass
class Code:
    """The transformed code of a compilation, and the resume functions around it."""

    is_resume: bool = False
    resume_name: str | None = None
    """The global that transformed code calls this resume function by: the first of `resume_names`."""
    resume_names: list[str] = field(default_factory=list)
    """All of them: Dynamo has one for each compilation that ends at the same break."""
    compiled_fn: int | None = None
    """The N of `__compiled_fn_N`."""
    attempt: int = 0
    """How often Dynamo started again."""
    transformed_file: str | None = None
    proved: bool | None = None
    """Does the source in `transformed_file` do what the transformed code does? None where there is none."""
    not_proved: str | None = None
    """Why and where it is not proved."""
    running: bool = False
    """Is `transformed_file` what runs?"""
    resume_calls: list[str] = field(default_factory=list)
    """The globals of the resume functions that the transformed code calls."""


@dataclass
class Conditions:
    """The conditions under which a compilation is used again."""

    guards: list[str] = field(default_factory=list)
    """The tree of guards as PyTorch prints it."""
    guards_file: str | None = None
    """The file with the guards as a function of local and global variables."""
    frontier: list[Limit] = field(default_factory=list)
    """What the next call must be like for this compilation to be used again."""
    symbols: list[Symbol] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    """What no guard checks although the code relies on it, in sentences: a filter dropped the guard."""
    runtime_values: list[RuntimeValue] = field(default_factory=list)
    runtime_asserts: list[RuntimeAssert] = field(default_factory=list)


@dataclass
class CacheMiss:
    """A cache of compilations that had no entry for this one."""

    cache: str
    """"Inductor" or "AOTAutograd"."""
    file: str
    """The file with the parts of the key that it was asked for, which `depyf open` reads and compares."""
    differences: list[str] = field(default_factory=list)
    """How the nearest entry of the cache differs, a line each; empty where there was none to compare with."""

    @property
    def is_of_same_graph(self) -> bool:
        """True if the nearest entry holds the same graph, compiled under other conditions."""
        return bool(self.differences) and not any(line.startswith("key: gm ") for line in self.differences)


@dataclass
class Causes:
    """Why a compilation ends where it does, and why it was necessary."""

    graph_breaks: list[str] = field(default_factory=list)
    """In PyTorch's words."""
    breaks: list[Break] = field(default_factory=list)
    recompile_reasons: list[str] = field(default_factory=list)
    """In PyTorch's words."""
    failures: list[Failure] = field(default_factory=list)
    """Of each earlier compilation the guards that did not hold, the one that PyTorch meets first in front."""
    misses: list[CacheMiss] = field(default_factory=list)
    """The caches of other processes that had no entry for it."""


@dataclass
class Documents:
    """The files of a compilation, and remarks about them."""

    provenance: list[str] = field(default_factory=list)
    """What became of each captured node, and what was not fused, a line each; all of it is in `provenance.json`."""
    artifacts: list[Artifact] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float | None = field(default=None, compare=False)
    """How long the compilation took, its forward graph's included. Not in `session.json`: it differs in every run."""


@dataclass
class Frame(Documents, Causes, Conditions, Code, Outcome):
    """One compilation of one function, or of one resume function.

    The fields are those of the five parts. They stand in `session.json` in the order of the parts, the last class first.
    """

    @property
    def title(self) -> str:
        """The function for readers, with its place: `LM.forward (model.py:12)`."""
        name = self.name or self.function
        file = self.filename.replace("\\", "/").rpartition("/")[2]
        if self.is_resume and self.name:
            place = f"{file}:{self.line}" if file else f"line {self.line}"
            return f"{name} after the break at {place}"
        return f"{name} ({file}:{self.line})" if file else name

    def files(self, kind: str) -> list[str]:
        """Returns the names of the files of one kind."""
        return [artifact.file for artifact in self.artifacts if artifact.kind == kind]


@dataclass
class FullCode:
    """The file with the whole source of one function."""

    function: str
    file: str
    compile_ids: list[str]
    title: str = ""
    """The function for readers; see `Frame.title`."""


@dataclass
class FeatureState:
    """The state of a feature of depyf with the installed PyTorch and Python."""

    key: str
    feature: str
    status: str
    """"works", "works with a fallback" or "not available"."""
    why: list[str] = field(default_factory=list)
    """Of the latter two: a sentence for each thing that is not as it should be."""
    expected: bool = True
    """Is it what these releases are known for?"""


class PhaseEvent(typing.NamedTuple):
    """The beginning or the end of a phase of a compilation, or a whole phase, as PyTorch's own timeline has it."""

    kind: str
    """"B" of a beginning, "E" of an end, "X" of a whole phase."""
    name: str
    microseconds: float
    """Since the epoch."""
    compile_id: str
    """Empty if PyTorch states none."""
    duration: float = 0.0
    """Of a whole phase, in microseconds."""


@dataclass
class Session:
    """What one block saw. Filled while the block runs; complete when it has ended."""

    directory: str
    torch_version: str = ""
    python_version: str = ""
    working_directory: str = ""
    """Of the program when the block began; relative names of files of source start there."""
    frames: list[Frame] = field(default_factory=list)
    full_code: list[FullCode] = field(default_factory=list)
    other_artifacts: list[Artifact] = field(default_factory=list)
    """Graphs that belong to no compilation that was seen."""
    notes: list[str] = field(default_factory=list)
    """What a reader has to know: what failed, what was compiled before."""
    features: list[FeatureState] = field(default_factory=list)
    """What `python -m depyf doctor` finds by looking; parts of PyTorch that were not loaded count as they should be."""

    def __post_init__(self) -> None:
        self.phase_events: list[PhaseEvent] = []
        """The events of PyTorch's timeline, in `times.json`. No field, as they differ in every run."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the record as JSON has it. The directory is left out, as a dump can be moved."""
        data: dict[str, Any] = plain(self)
        del data["directory"]
        for frame in data["frames"]:
            del frame["seconds"]
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any], directory: str = "") -> Session:
        """Returns the record that `to_dict` wrote.

        Raises:
            TypeError: fields are missing, unknown or of another type.
        """
        if type(data) is not dict:
            raise TypeError("a run is not an object")
        return typing.cast(Session, load(cls, {**data, "directory": directory}))

    def report(self, path: str | os.PathLike[str], *, redact: bool = False) -> Path:
        """Writes the content of the dump, this block included, as one HTML file that any browser opens without a
        network.

        Args:
            path: of the file; it is overwritten.
            redact: leave out source text, paths, strings, numbers that are no sizes, and messages of errors. Operators,
                shapes, times, numbers of lines, and names that consist of words of PyTorch and Python are kept.

        Returns:
            The file.

        Raises:
            OSError: the dump cannot be read, or the file not be written.
        """
        page.write_page([self.directory], path, f"session.report({str(path)!r})", redact=redact)
        return Path(path)

    def distinct_breaks(self) -> list[tuple[Break, list[str]]]:
        """Returns each graph break once, with the compile ids of the compilations that end there."""
        breaks: dict[tuple[str, ...], tuple[Break, list[str]]] = {}
        for frame in self.frames:
            for graph_break in frame.breaks:
                ids = breaks.setdefault(graph_break.key, (graph_break, []))[1]
                if frame.compile_id not in ids:
                    ids.append(frame.compile_id)
        return list(breaks.values())

    def by_function(self, compile_ids: list[str]) -> list[tuple[str, list[str]]]:
        """Groups compile ids by the names of their functions."""
        groups: dict[str, list[str]] = {}
        for frame in self.frames:
            if frame.compile_id in compile_ids:
                group = groups.setdefault(frame.name or frame.function, [])
                group += [] if frame.compile_id in group else [frame.compile_id]
        return list(groups.items())

    def recompilations(self) -> list[Frame]:
        """Returns the compilations of functions that had one before. Attempts that failed are none."""
        again = [frame for frame in self.frames if frame.failures or frame.recompile_reasons]
        return [frame for frame in again if frame.status != "not compiled"]


class Unreadable(ValueError):
    """A session.json that cannot be read. The message names the file, what is wrong with it, and what to do."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path.name} cannot be read: {why}; move {path} away, and run the program again")
        self.why = why


def read_runs(directory: Path) -> list[Session]:
    """Returns the runs that `session.json` in a directory tells of; none if there is no such file.

    Raises:
        Unreadable: it is no file, or not what depyf writes.
    """
    path = directory / "session.json"
    try:
        data = json.loads(path.read_bytes())
        version = data["schema_version"]
        if version != SCHEMA_VERSION:
            raise Unreadable(path, f"its schema version is {version!r:.50}, and this depyf reads {SCHEMA_VERSION}")
        if type(data["runs"]) is not list:
            raise TypeError("runs is not a list")
        return [Session.from_dict(run, str(directory)) for run in data["runs"]]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unreadable(path, f"{error.strerror or error}") from None
    except RecursionError:
        raise Unreadable(path, "it nests too deep") from None
    except Unreadable:
        raise
    except KeyError as error:
        raise Unreadable(path, f"it has no {error}") from None
    except (ValueError, TypeError) as error:
        raise Unreadable(path, f"{type(error).__name__}: {error}") from None


def _in_words(field: str, item: Failure | Break, words: str) -> str:
    """Returns one item of a field of a frame as the core words it."""
    return str(_core.frame_words(_core.json_text({field: [item]}, levels=0), "")[words][0])
