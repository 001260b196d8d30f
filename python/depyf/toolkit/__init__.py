"""Cache entries in the user's hands: look at one, check it, run it, change it, give it back to Dynamo.

target        the function, and what fills its frame
callees       graphs and resume functions that the code of an entry calls
lookup        which of several entries a call would take
checking      what an entry's guards say to a call
conditions    guards that a user adds, and what is lost with those that are dropped
edits         a changed copy
building      PyTorch's guards for it
validation    whether its code can stand in for the function's
registration  giving it to Dynamo, and taking it back
kernels       edited files of Inductor's output code
saving        one entry as a file that people edit and other processes load
files         such a file, read
portable      what the file calls objects by, so that another process finds them
ahead_of_time what was compiled ahead of time, as entries
ahead_file    such an entry as a file that PyTorch loads
editor        the file in an editor, and what comes back registered
command       `depyf edit`
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
