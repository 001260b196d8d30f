"""Writes the texts of a dump's files.

`artifacts` writes the files of single stages, which `stages` lists. `story` writes the file that contains all code,
graphs and guards that torch.compile generated for a function, in the order of execution. `record` writes the files that
describe the whole directory, for readers and for programs. `words` describes a compilation in sentences. `missing`
lists the files that are absent, with the reasons.
"""

from __future__ import annotations

from depyf.dump.artifacts import artifact_text, graph_class, runs_text, transformed_text
from depyf.dump.missing import missing_artifacts
from depyf.dump.record import write as write_record
from depyf.dump.story import Section, full_code, guard_function, original_source
from depyf.dump.words import (
    DIED,
    UNFINISHED,
    deciding_reason,
    details,
    failure_lines,
    headline,
    runtime_rows,
    symbol_rows,
)

__all__ = [
    "DIED",
    "UNFINISHED",
    "Section",
    "artifact_text",
    "deciding_reason",
    "details",
    "failure_lines",
    "full_code",
    "graph_class",
    "guard_function",
    "headline",
    "missing_artifacts",
    "original_source",
    "runs_text",
    "runtime_rows",
    "symbol_rows",
    "transformed_text",
    "write_record",
]
