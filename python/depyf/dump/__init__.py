"""The texts of a dump's files.

`artifacts` has the files of single stages (`stages` lists them), `story` leads through all that was made of a
function, `record` tells of the whole directory, to readers and to programs, and `words` of a compilation in
sentences. `missing` explains what is absent.
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
