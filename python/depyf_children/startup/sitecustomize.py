"""Is executed at the start of each Python that `depyf run` or a process of it starts, because its folder is on PYTHONPATH.

It watches the processes of the same environment, and executes the `sitecustomize` that Python would have executed. Any
Python may load this file, so it is written for all versions.
"""

import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
if os.environ.get("DEPYF_PREFIX") == sys.prefix:
    sys.path.insert(0, os.path.dirname(os.path.dirname(_here)))
    try:
        import depyf_children

        depyf_children.watch()
    finally:
        del sys.path[0]

sys.path[:] = [_path for _path in sys.path if os.path.abspath(_path or ".") != _here]
_this = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: F401 (the next one on the path)
except ImportError as _error:
    if getattr(_error, "name", "sitecustomize") != "sitecustomize":
        raise
    # Python looks the module up that it has executed.
    sys.modules["sitecustomize"] = _this
