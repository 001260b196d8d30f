"""The record of one block under `prepare_debug`: plain data, readable without torch."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

SCHEMA_VERSION = 1


@dataclass
class Artifact:
    """One file that belongs to a compilation."""

    kind: str
    """As in the file's name: `Captured_Graph`, `kernel`, `ir_pre_fusion`, ..."""
    file: str
    direction: str | None = None
    """"forward", "backward", "joint"; None where it has no meaning."""


@dataclass
class Missing:
    """An artifact that a reader may look for and that is not there."""

    kind: str
    why: str


@dataclass
class Frame:
    """One compilation of one function, or of one resume function."""

    compile_id: str
    """Dynamo's: "0/1" is the second compilation of the first function."""
    function: str
    filename: str = ""
    line: int = 0
    status: str = "not compiled"
    """One of "compiled", "not compiled" (it runs as it was written, or the error went to the caller), "compiled before"
    (the block was entered)."""
    error: str | None = None
    """Why it was not compiled, in PyTorch's words; None also where Dynamo found nothing to do."""
    is_resume: bool = False
    resume_name: str | None = None
    """The global that transformed code calls this resume function by."""
    compiled_fn: int | None = None
    """The N of `__compiled_fn_N`."""
    attempt: int = 0
    """How often Dynamo started again."""
    transformed_file: str | None = None
    proved: bool | None = None
    """Does the source in `transformed_file` do what the transformed code does? None where there is none."""
    not_proved: str | None = None
    """Why and where it is not proved."""
    resume_calls: list[str] = field(default_factory=list)
    """The globals of the resume functions that the transformed code calls."""
    guards: list[str] = field(default_factory=list)
    graph_breaks: list[str] = field(default_factory=list)
    recompile_reasons: list[str] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def files(self, kind: str) -> list[str]:
        """The names of the files of one kind."""
        return [artifact.file for artifact in self.artifacts if artifact.kind == kind]


@dataclass
class FullCode:
    """The file that tells the whole story of one function."""

    function: str
    file: str
    compile_ids: list[str]


@dataclass
class Session:
    """What one block saw. Filled while the block runs; complete when it has ended."""

    directory: str
    torch_version: str = ""
    python_version: str = ""
    frames: list[Frame] = field(default_factory=list)
    full_code: list[FullCode] = field(default_factory=list)
    other_artifacts: list[Artifact] = field(default_factory=list)
    """Graphs that belong to no compilation that was seen."""
    notes: list[str] = field(default_factory=list)
    """What a reader has to know: what failed, what was compiled before."""

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON has it. The directory is left out: a dump can be moved."""
        data = dataclasses.asdict(self)
        del data["directory"]
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any], directory: str = "") -> Session:
        """The record that `to_dict` made.

        Raises:
            TypeError: fields are missing or unknown.
        """
        data = dict(data)
        frames = []
        for one in data.pop("frames"):
            one = dict(one)
            one["artifacts"] = [Artifact(**artifact) for artifact in one["artifacts"]]
            one["missing"] = [Missing(**missing) for missing in one["missing"]]
            frames.append(Frame(**one))
        full_code = [FullCode(**one) for one in data.pop("full_code")]
        other = [Artifact(**one) for one in data.pop("other_artifacts")]
        return cls(directory, frames=frames, full_code=full_code, other_artifacts=other, **data)
