"""The texts of a dump's files.

`artifacts` has the files of single stages (`stages` lists them), `story` leads through all that was made of a function,
`overview` and `record` tell of the whole directory, to readers and to programs. `missing` says what is not there.
"""

from __future__ import annotations

from depyf.dump.artifacts import artifact_text, graph_body, graph_class, runs_text, transformed_text
from depyf.dump.missing import missing_artifacts
from depyf.dump.not_compiled import DIED, UNFINISHED, details, headline
from depyf.dump.reasons import deciding_reason, failure_lines, runtime_rows, symbol_rows
from depyf.dump.record import write as write_record
from depyf.dump.story import Section, full_code, original_source

__all__ = [
    "DIED",
    "UNFINISHED",
    "Section",
    "artifact_text",
    "deciding_reason",
    "details",
    "failure_lines",
    "full_code",
    "graph_body",
    "graph_class",
    "headline",
    "missing_artifacts",
    "original_source",
    "runs_text",
    "runtime_rows",
    "symbol_rows",
    "transformed_text",
    "write_record",
]
