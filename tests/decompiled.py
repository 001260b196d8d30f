"""Runs depyf-decompile of the dev build on files of bytecode."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

COMMAND = Path(__file__).resolve().parents[1] / "build" / "dev" / "depyf-decompile"


def decompiled(pyc: Path, *arguments: str) -> str:
    """Returns the source of a file, without the line of counts at the end."""
    return subprocess.run([COMMAND, "-q", *arguments, pyc], capture_output=True, text=True, check=True).stdout


def unproved(pyc: Path) -> list:
    """Returns the code objects that the JSON report lists as not proved."""
    [report] = json.loads(decompiled(pyc, "--prove", "--json"))["files"]
    return report["not_proved"]
