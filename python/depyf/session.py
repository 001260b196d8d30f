"""The record of one block under `prepare_debug`: plain data, readable without torch.

All dataclasses of the record are in one file, because their types refer to each other.
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
    """The kind in the file's name: `Captured_Graph`, `kernel`, `ir_pre_fusion`, ..."""
    file: str
    direction: str | None = None
    """The direction of a graph: "forward", "backward" or "joint"; None for kinds without a direction."""
    running: bool = False
    """True if code compiled from this file runs, as for the file of a graph that the backend runs unchanged."""


@dataclass
class Missing:
    """An artifact that a reader may look for and that does not exist."""

    kind: str
    why: str
    direction: str | None = None
    """The direction of a graph: "forward" or "backward"; None for kinds without a direction."""

    def __str__(self) -> str:
        return f"{self.kind}{f' ({self.direction})' if self.direction else ''}: {self.why}"


@dataclass(frozen=True)
class Failure:
    """A guard that fails for a call, in the user's terms."""

    condition: str
    """The condition that must hold, such as `self.scale == 1.0`."""
    subject: str
    """The value that the guard checks, such as `self.scale`."""
    expected: str
    actual: str
    line: Line | None = None
    """The user's line that needs the guard."""
    kind: str = ""
    """The kind of the guard, by PyTorch's name for it."""
    entry: str = ""
    """The compile id of the compilation that the guard belongs to."""
    origin: str = ""
    """The place in PyTorch that set the guard, if it was not a line of the user's."""
    is_state: bool = False
    """True if the guard checks the state of the process, such as grad mode or autocast, and not a value."""
    alike: list[str] = field(default_factory=list)
    """Other values for which the check of this guard fails in the same way: the flag `training` of each submodule, for
    example."""
    follows: list[str] = field(default_factory=list)
    """The values whose guards fail only because this guard fails: the items of a list that is shorter, or the dispatch
    keys of each tensor under autocast."""

    def __str__(self) -> str:
        return _in_words("failures", self, "guards")


@dataclass(frozen=True)
class Limit:
    """A condition that the next call has to meet so that the compilation is used again."""

    condition: str
    """The condition in the user's terms: `2 <= x.shape[0] <= 64`."""
    subject: str = ""
    """The value that the condition is about, such as `x.shape[0]`; "" for several values, or the state of the process.
    """
    line: Line | None = None
    """The user's line that needs the condition."""
    origin: str = ""
    """The place in PyTorch that set the condition, if it was not a line of the user's."""

    @property
    def why(self) -> str:
        """The line or the place that needs the condition; "" if no particular place is known."""
        return "; ".join(part for part in (self.origin, "" if self.line is None else str(self.line)) if part)

    def __str__(self) -> str:
        return f"{self.condition}  # {self.why}" if self.why else self.condition


@dataclass(frozen=True)
class Break:
    """A graph break, which is a place at which Dynamo ends a graph."""

    reason: str
    explanation: str = ""
    hints: list[str] = field(default_factory=list)
    line: Line | None = None
    """The user's line at which the graph ends."""
    link: str = ""
    inside: Line | None = None
    """The line in PyTorch at which the graph ends, if `line` only calls into PyTorch."""
    then: str = ""
    """The reason why Dynamo could not even compile the code before the graph break; "" if Dynamo compiled that code."""

    @property
    def key(self) -> tuple[str, ...]:
        """A key that is equal for the same graph break in several compilations."""
        places = [f"{line.file}:{line.line}" if line is not None else "" for line in (self.line, self.inside)]
        return (self.reason, *places)

    @property
    def where(self) -> str:
        """The place of the graph break. If the break is in PyTorch's own code, PyTorch's line comes first, followed by
        the user's line that calls into PyTorch."""
        return _in_words("breaks", self, "places")

    def __str__(self) -> str:
        return _in_words("breaks", self, "breaks")


@dataclass(frozen=True)
class Symbol:
    """A size of a graph that is symbolic, or was symbolic until PyTorch specialised it to one value."""

    name: str
    sources: list[str]
    """Dynamo's expressions for the size: `L['x'].size()[0]`."""
    hint: str = ""
    """The size in the call that was compiled."""
    range: str = ""
    """The sizes that the symbol may have, such as `[2, 64]`; "int_oo" is infinity."""
    lower_from: str = ""
    upper_from: str = ""
    """The place that set the upper bound, as PyTorch names it: a place in PyTorch, or a line of the user's."""
    value: str = ""
    """The only size that is allowed after specialisation; "" if the symbol was not specialised."""
    specialized_by: Line | None = None
    """The user's line that made PyTorch specialise the symbolic size."""
    reason: str = ""
    terms: list[str] = field(default_factory=list)
    """The expressions of `sources` in the user's terms: `x.shape[0]`."""


@dataclass(frozen=True)
class RuntimeValue:
    """A size or number that is known only when the graph runs; PyTorch calls it an unbacked symbol."""

    name: str
    """The name of the symbol, such as `u0`."""
    range: str = ""
    """The values that the symbol can have, such as `[2, 10]`; "int_oo" is infinity."""
    line: Line | None = None
    """The user's line that computes the symbol's value."""


@dataclass(frozen=True)
class RuntimeAssert:
    """A condition on values that are known only when the graph runs. The graph itself checks the condition of a
    `RuntimeAssert`, because guards are evaluated before the graph runs."""

    condition: str
    """The asserted condition, such as `u0 >= 2`."""
    line: Line | None = None
    """The user's line that needs the condition."""
    message: str = ""
    """The text of the error that a violation raises, if the program defines one."""


@dataclass(frozen=True)
class Exceeded:
    """A limit of PyTorch on the number of compilations of a function, which a call has reached."""

    limit: str
    """The name of the setting without `torch._dynamo.config.` before it: `recompile_limit`."""
    value: int | None = None
    compile_ids: list[str] = field(default_factory=list)
    """The compile ids of the compilations that count towards the limit on compilations."""
    reasons: list[str] = field(default_factory=list)
    """For each compilation in `compile_ids`, the reason for which it was necessary; "" if the reason is unknown."""
    accepted: list[str] = field(default_factory=list)
    """A line for each value in which the compilations in `compile_ids` differ, with all values that these compilations
    accept: `x.shape[0] == 2 or x.shape[0] == 3`."""
    still_used: bool = True
    """True if the existing compilations are still used for calls that their guards accept, although the limit on
    compilations is reached."""


@dataclass
class Outcome:
    """The function that was compiled, and the result of the compilation."""

    compile_id: str
    """Dynamo's id: "0/1" is the second compilation of the first function."""
    function: str
    """The function's name in its code object; for a resume function, the name that Dynamo generated."""
    filename: str = ""
    line: int = 0
    status: str = "not compiled"
    """The result of the compilation: "compiled", "not compiled" (the function runs eagerly, or the caller received the
    error) or "compiled before" (the compilation is older than the block)."""
    error: str | None = None
    """PyTorch's message on why the function was not compiled; None if there is no message, as when Dynamo finds nothing
    to compile."""
    name: str = ""
    """The qualified name of the function, such as `LM.forward`; for a wrapper it contains the wrapped function, and for
    a resume function it is the name of the function that it continues. See `title`."""
    raised: bool = False
    """For a function that was not compiled: true if the program's call raised the error, and false if the function runs
    eagerly."""
    stopped_by: Break | None = None
    """The graph break because of which the function was not compiled."""
    exceeded: Exceeded | None = None
    """The limit because of which the function was not compiled."""


@dataclass
class Code:
    """The transformed code of a compilation, and the names of its resume functions."""

    is_resume: bool = False
    resume_name: str | None = None
    """The global by which transformed code calls this resume function: the first of `resume_names`."""
    resume_names: list[str] = field(default_factory=list)
    """All globals by which transformed code calls this resume function. Dynamo creates one global for each compilation
    that ends at the same graph break."""
    compiled_fn: int | None = None
    """The N in `__compiled_fn_N`, the name of the compiled graph."""
    attempt: int = 0
    """The number of times that Dynamo restarted the compilation."""
    transformed_file: str | None = None
    proved: bool | None = None
    """True if the source in `transformed_file` is proved to do what the transformed code does; None if there is no
    source."""
    not_proved: str | None = None
    """The reason why the source in `transformed_file` is not proved, with the place of the difference."""
    running: bool = False
    """True if the transformed code that runs is compiled from `transformed_file`."""
    resume_calls: list[str] = field(default_factory=list)
    """The globals of the resume functions that the transformed code calls."""


@dataclass
class Conditions:
    """The conditions under which a compilation is used again."""

    guards: list[str] = field(default_factory=list)
    """The tree of guards as PyTorch prints it, in lines."""
    guards_file: str | None = None
    """The file that contains the guards as a function of local and global variables."""
    frontier: list[Limit] = field(default_factory=list)
    """The conditions on the next call under which this compilation is used again."""
    symbols: list[Symbol] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    """Sentences about values that the code relies on and no guard checks, because a filter dropped the guard."""
    runtime_values: list[RuntimeValue] = field(default_factory=list)
    runtime_asserts: list[RuntimeAssert] = field(default_factory=list)


@dataclass
class CacheMiss:
    """A failed lookup of a compilation in one of PyTorch's caches."""

    cache: str
    """The name of the cache: "Inductor" or "AOTAutograd"."""
    file: str
    """The file with the parts of the cache key that was looked up without success; `depyf open` reads and compares such
    files."""
    differences: list[str] = field(default_factory=list)
    """A line for each difference from the nearest entry of the cache; empty if there was no entry to compare with."""

    @property
    def is_of_same_graph(self) -> bool:
        """True if the nearest entry contains the same graph, compiled under other conditions."""
        return bool(self.differences) and not any(line.startswith("key: gm ") for line in self.differences)


@dataclass
class Causes:
    """The reasons for the graph breaks of a compilation, and the reasons why the compilation was necessary."""

    graph_breaks: list[str] = field(default_factory=list)
    """PyTorch's reports of the graph breaks."""
    breaks: list[Break] = field(default_factory=list)
    recompile_reasons: list[str] = field(default_factory=list)
    """PyTorch's reasons for the recompilation."""
    failures: list[Failure] = field(default_factory=list)
    """For each earlier compilation of the function, the guards that did not hold; the compilation whose guards differ
    from the call in the fewest values comes first."""
    misses: list[CacheMiss] = field(default_factory=list)
    """The caches of compilations, shared by processes, that had no entry for this compilation."""


@dataclass
class GroupCost:
    """The time that a part of the guards of a compilation takes."""

    source: str
    """Dynamo's name for the value that the guards read, such as `L['self'].layers`; "" for the state of the process."""
    microseconds: float
    values: int
    """The number of values that this part of the guards reads."""
    guards: int
    """The number of conditions that this part of the guards checks."""


@dataclass
class GuardTime:
    """The time that one check of a compilation's guards takes."""

    microseconds: float
    groups: list[GroupCost] = field(default_factory=list)
    """The parts of a check in which all guards hold, the most expensive part first; empty if the parts were not
    measured."""


@dataclass
class Documents:
    """The files of a compilation, and notes about them."""

    provenance: list[str] = field(default_factory=list)
    """Lines of Markdown on the kernels of each captured node, and on operations that were not fused; `provenance.json`
    contains the full data."""
    artifacts: list[Artifact] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float | None = field(default=None, compare=False)
    """The duration of the compilation in seconds, including that of its forward graph. `session.json` does not contain
    the duration of a compilation, because the duration differs in every run."""
    guard_time: GuardTime | None = field(default=None, compare=False)
    """The time of one check of the compilation's guards on the call that was compiled. `session.json` does not contain
    the time of the check of guards, because the time differs in every run."""


@dataclass
class Frame(Documents, Causes, Conditions, Code, Outcome):
    """One compilation of one function, or of one resume function.

    The fields of a frame are the fields of its five base classes; in `session.json`, the fields of the last base class
    come first.
    """

    @property
    def title(self) -> str:
        """The function's title, which includes its place: `LM.forward (model.py:12)`."""
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
    """A file with a function's source, followed by all code that torch.compile generated for it, in the order of
    execution."""

    function: str
    file: str
    compile_ids: list[str]
    title: str = ""
    """The function's title; see `Frame.title`."""


@dataclass
class FeatureState:
    """The state of a feature of depyf with the installed PyTorch and Python."""

    key: str
    feature: str
    status: str
    """The status of the feature: "works", "works with a fallback" or "not available"."""
    why: list[str] = field(default_factory=list)
    """A sentence for each defect; empty if the feature works."""
    expected: bool = True
    """True if this status is expected for the installed releases of PyTorch and Python."""


class PhaseEvent(typing.NamedTuple):
    """The beginning or the end of a phase of a compilation, or a whole phase, from PyTorch's own timeline."""

    kind: str
    """"B" for a beginning, "E" for an end, "X" for a whole phase."""
    name: str
    microseconds: float
    """The time in microseconds since the epoch."""
    compile_id: str
    """The compile id; empty if PyTorch states none."""
    duration: float = 0.0
    """The duration of a whole phase in microseconds."""


@dataclass
class Session:
    """The record of one `prepare_debug` block, which is filled while the block is open, and complete when the block has
    ended."""

    directory: str
    torch_version: str = ""
    python_version: str = ""
    working_directory: str = ""
    """The program's working directory when the block began, to which relative names of source files refer."""
    run: int = 0
    """The number of the run that `depyf run` began in the directory, counted from 1; all processes of a program have
    the same number. The number is 0 if `depyf run` did not begin the block."""
    frames: list[Frame] = field(default_factory=list)
    full_code: list[FullCode] = field(default_factory=list)
    other_artifacts: list[Artifact] = field(default_factory=list)
    """Graphs that belong to no recorded compilation."""
    notes: list[str] = field(default_factory=list)
    """Sentences that a reader needs: about failures, and about what was compiled before the block."""
    features: list[FeatureState] = field(default_factory=list)
    """The state of the features, as `python -m depyf doctor` finds it by inspection; parts of PyTorch that were not
    loaded count as working."""

    def __post_init__(self) -> None:
        self.phase_events: list[PhaseEvent] = []
        """The events of PyTorch's timeline, which are in `times.json`. The timeline's events are not a field of the
        dataclass, because they differ in every run."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the record as JSON data, without the directory, because a dump can be moved."""
        data: dict[str, Any] = plain(self.to_write())
        return data

    def to_write(self) -> dict[str, Any]:
        """Returns the data of `to_dict`, but does not convert dataclasses, because `_core.json_text` can write them."""
        data = {**vars(self), "frames": [{**vars(frame)} for frame in self.frames]}
        del data["directory"], data["phase_events"]
        for frame in data["frames"]:
            del frame["seconds"], frame["guard_time"]
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any], directory: str = "") -> Session:
        """Returns the record from the data that `to_dict` returned.

        Raises:
            TypeError: fields are missing, unknown or of another type.
        """
        if type(data) is not dict:
            raise TypeError("a run is not an object")
        return typing.cast(Session, load(cls, {**data, "directory": directory}))

    def report(self, path: str | os.PathLike[str], *, redact: bool = False) -> Path:
        """Writes the content of the dump, including this block, as one HTML file that any browser opens without a
        network.

        Args:
            path: the path of the file, which is overwritten.
            redact: if true, leaves out source text, paths, strings, numbers that are not sizes, and messages of errors.
                A redacted file still contains operators, shapes, times, line numbers, and names that consist of words
                of PyTorch and Python.

        Returns:
            The path of the file.

        Raises:
            OSError: the dump cannot be read, or the file cannot be written.
        """
        page.write_page([self.directory], path, f"session.report({str(path)!r})", redact=redact)
        return Path(path)

    def distinct_breaks(self) -> list[tuple[Break, list[str]]]:
        """Returns each graph break once, with the compile ids of the compilations that end at the graph break."""
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
        """Returns the successful compilations of functions that had been compiled before."""
        again = [frame for frame in self.frames if frame.failures or frame.recompile_reasons]
        return [frame for frame in again if frame.status != "not compiled"]


class Unreadable(ValueError):
    """The exception that is raised for a session.json that cannot be read. The message of the exception names the file,
    the defect, and the remedy."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path.name} cannot be read: {why}; move {path} away, and run the program again")
        self.why = why


def read_runs(directory: Path) -> list[Session]:
    """Returns the runs that `session.json` in a directory records; an empty list if there is no such file.

    Raises:
        Unreadable: `session.json` is not a file that can be read, or its content was not written by depyf.
    """
    path = directory / "session.json"
    try:
        data = json.loads(path.read_bytes())
        version = data["schema_version"]
        if version != SCHEMA_VERSION:
            raise Unreadable(
                path, f"its schema version is {version!r:.50}, and this release of depyf reads {SCHEMA_VERSION}"
            )
        if type(data["runs"]) is not list:
            raise TypeError("runs is not a list")
        return [Session.from_dict(run, str(directory)) for run in data["runs"]]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unreadable(path, f"{error.strerror or error}") from None
    except RecursionError:
        raise Unreadable(path, "it is nested too deeply") from None
    except Unreadable:
        raise
    except KeyError as error:
        raise Unreadable(path, f"it has no {error}") from None
    except (ValueError, TypeError) as error:
        raise Unreadable(path, f"{type(error).__name__}: {error}") from None


def _in_words(field: str, item: Failure | Break, words: str) -> str:
    """Returns the C++ core's text about `item`, which is an item of the list in the frame's field `field`; `words` is a
    key of `_core.frame_words`."""
    return str(_core.frame_words(_core.json_text({field: [item]}, levels=0), "")[words][0])
