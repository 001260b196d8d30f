"""Writes the facts that a bug report needs to a file: versions, the platform, settings, and the findings of `depyf
doctor`.

The bug report contains no code of the user, and `~` replaces the home folder in all paths.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from depyf import versions

_PACKAGES = ("debugpy", "ipykernel", "ipython", "networkx", "numpy", "pytest", "sympy", "torchvision", "triton", "vllm")
"""Packages that depyf or torch.compile work with, and whose versions the bug report states."""
_VARIABLES = re.compile(r"(DEPYF|TORCH|PYTORCH|PYTHON|OMP|TRITON|CUDA)[A-Z0-9_]*|CC|CXX|RANK|WORLD_SIZE")
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|KEY")
_COMPILER_SECONDS_MAX = 10


def text(findings: str, torch_version: str | None) -> str:
    """Returns the text of the bug report.

    Args:
        findings: the text that `depyf doctor` prints.
        torch_version: the version of PyTorch; None if PyTorch is not installed.
    """
    sections = {
        "Versions": [
            versions.line(torch_version),
            sys.version.replace("\n", " "),
            *(f"{name} {version}" for name in _PACKAGES if (version := versions.of_package(name)) is not None),
        ],
        "Platform": [
            platform.platform(),
            f"{platform.machine()}, {os.cpu_count()} processors, {' '.join(platform.libc_ver()).strip() or 'libc unknown'}",
            f"C++ compiler: {_compiler()}",
            f"Python's files: {sys.prefix}",
        ],
        "Settings": _settings() or ["no variable of depyf, Python or PyTorch is set"],
        "What depyf doctor found": findings.splitlines(),
    }
    parts = [f"## {title}\n\n" + "".join(f"    {line}\n" for line in lines) for title, lines in sections.items()]
    return without_home("\n".join(parts))


def without_home(content: str) -> str:
    """Returns a text with `~` in the place of the path of the user's home folder, also if the text contains the path
    with resolved symbolic links."""
    homes = {str(Path.home()), os.path.realpath(Path.home())}
    for home in sorted(homes - {"", os.sep}, key=len, reverse=True):
        content = re.sub(re.escape(home.rstrip(os.sep)) + r"(?![\w.-])", "~", content)
    return content


def _settings() -> list[str]:
    """Returns a line for each variable of the environment that depyf, Python or PyTorch reads; the values of secrets
    are left out."""
    return [
        f"{name}={'(left out)' if _SECRET.search(name) else value}"
        for name, value in sorted(os.environ.items())
        if _VARIABLES.fullmatch(name)
    ]


def _compiler() -> str:
    """Returns the first line that the C++ compiler prints for `--version`; "none" if there is no compiler."""
    command = shutil.which(os.environ.get("CXX", "")) or shutil.which("c++") or shutil.which("g++")
    if command is None:
        return "none"
    try:
        done = subprocess.run(
            [command, "--version"], capture_output=True, text=True, timeout=_COMPILER_SECONDS_MAX, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"{command}: {error}"
    return done.stdout.partition("\n")[0]
