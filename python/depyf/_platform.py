"""Decides whether the running interpreter can load depyf's extension module.

The package calls `require_supported` before it loads the extension module, and CMake runs this file before it builds
the module. This file uses only syntax that older interpreters can compile, so that they report an unsupported system
instead of a syntax error.
"""

from __future__ import annotations

import sys

_SYSTEMS = {"darwin": "macOS", "win32": "Windows", "cygwin": "Windows"}
_WITHOUT_INTERPRETER = (
    "The command depyf-decompile, which a build with -DDEPYF_BUILD_EXTENSION=OFF makes, reads .pyc files of CPython 3.8 to "
    "3.15 and needs no interpreter."
)


def refusal() -> str | None:
    """Returns the reason why depyf does not support this system or interpreter, and an alternative; None if depyf
    supports both."""
    version = "%d.%d" % sys.version_info[:2]
    if sys.platform != "linux":
        system = _SYSTEMS.get(sys.platform, sys.platform)
        return f"depyf needs Linux, and this Python runs on {system}, where depyf was never built or tested. {_linux_on(system)}"
    if sys.implementation.name != "cpython":
        return (
            f"depyf needs CPython, and this is {sys.implementation.name} {version}, which has neither CPython's bytecode nor "
            f"its frames. Use CPython 3.10 or later. {_WITHOUT_INTERPRETER}"
        )
    if "t" in sys.abiflags:
        return (
            f"depyf needs a CPython with the global interpreter lock, and this is a free-threaded build ({version}t), whose "
            "objects and frames are laid out in another way, also where the lock is turned on. Use the default build of "
            f"CPython {version}. {_WITHOUT_INTERPRETER}"
        )
    return None


def _linux_on(system: str) -> str:
    if system == "Windows":
        return "Use the Windows Subsystem for Linux (WSL 2) or a Linux container."
    return "Use a Linux container or a virtual machine."


def require_supported() -> None:
    """Raises an ImportError with the text of `refusal` if depyf cannot run on this interpreter."""
    text = refusal()
    if text:
        raise ImportError(text, name="depyf")


if __name__ == "__main__":
    sys.exit(refusal())
