"""Cache entries as objects that users can inspect, check, run, change, and register with Dynamo.

target        the function, and the values of its frame
callees       graphs and resume functions that the code of an entry calls
lookup        the entry that a call would take
checking      the verdict of an entry's guards on a call
conditions    guards that a user adds, and the checks that are lost with dropped guards
edits         changed copies of entries
building      PyTorch's guard tree for the guards of a changed entry
validation    decides whether code can replace the code of a function
registration  puts entries into Dynamo's cache, and removes them
kernels       edited files of Inductor's output code
saving        writes an entry to a file that people edit and other processes load
entry_file    parses such a file
loading       makes an entry of the parsed file
portable      references by which another process finds the objects that a file needs
ahead_of_time functions that were compiled ahead of time, as entries
ahead_file    saves such an entry to a file that PyTorch loads
editor        opens the file of an entry in an editor, and registers the result
command       the command `depyf edit`
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
