"""Cache entries as objects that users can inspect, check, run, change, and register with Dynamo.

`target`        describes a function, and the values with which its frames begin.
`callees`       finds the graphs and resume functions that the code of an entry calls.
`lookup`        finds the entry that Dynamo would use for a call.
`checking`      evaluates the guards of an entry for a call.
`conditions`    contains the guards that a user adds, and warnings about checks that an edit drops.
`edits`         makes changed copies of entries.
`building`      builds PyTorch's guard tree for an entry whose guards were edited.
`validation`    decides whether a code object can replace the code of a function.
`registration`  puts entries into Dynamo's cache, and removes them.
`kernels`       runs edited files of Inductor's output code in place of compiled graphs.
`saving`        writes an entry to a file that people edit and other processes load.
`entry_file`    parses the file of an entry.
`loading`       turns the parsed file of an entry into an entry.
`portable`      writes references by which another process finds the objects that a file needs.
`ahead_of_time` finds functions that were compiled ahead of time; depyf presents their code as cache entries, too.
`ahead_file`    saves an entry of a function that was compiled ahead of time to a file that PyTorch loads.
`editor`        opens the file of an entry in an editor, and registers the edited entry.
`command`       implements the command `depyf edit`.
"""

from __future__ import annotations

from depyf.toolkit.editor import EditedFile, edit
from depyf.toolkit.entries import CacheEntry, cache_entries, dispatch, new_entry
from depyf.toolkit.loading import load_entry
from depyf.toolkit.lookup import Dispatch
from depyf.toolkit.registration import Registration, registered

__all__ = [
    "CacheEntry",
    "Dispatch",
    "EditedFile",
    "Registration",
    "cache_entries",
    "dispatch",
    "edit",
    "load_entry",
    "new_entry",
    "registered",
]
