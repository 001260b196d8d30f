"""`depyf autoload on | off | status`: whether the variable DEPYF_DIR captures each program of this environment.

A file in site-packages, which Python reads at its start, looks at the variable. It does nothing else without it.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

NAME = "zz-depyf-autoload.pth"
"""The name of the file. Python reads such files in the order of their names, and one before it may say where depyf is."""
CONTENT = 'import os; os.environ.get("DEPYF_DIR") and __import__("depyf_children").watch()\n'


def add_parser(commands: Commands) -> None:
    """Adds the command to a command line."""
    parser = commands.add_parser(
        "autoload",
        help="capture each program of this environment for which DEPYF_DIR is set",
        description="Writes a file to site-packages of this environment, or removes it. While it is there, each program that "
        "runs with DEPYF_DIR=DIR in its environment is captured in DIR, with the Python processes that it starts, as `depyf "
        "run` would. `depyf explain DIR` shows the summary. Programs that run without the variable are not affected.",
    )
    parser.add_argument(
        "state", choices=["on", "off", "status"], help="write the file, remove it, or say if it is there"
    )


def run(parsed: argparse.Namespace) -> int:
    """Executes the command. Returns its exit status: 1 if the file could not be written or removed, or is not depyf's."""
    path = Path(sysconfig.get_path("purelib"), NAME)
    try:
        if parsed.state == "on":
            _write(path)
        elif parsed.state == "off":
            _remove(path)
        is_on = path.is_file()
    except OSError as error:
        print(f"depyf: {error}", file=sys.stderr)
        return 1
    if is_on:
        print(f"on: programs for which DEPYF_DIR is set are captured ({path})")
    else:
        print(f"off: DEPYF_DIR has no effect (no {path})")
    return 0


def _write(path: Path) -> None:
    """Writes the file as a whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    temporary = path.with_suffix(".new")
    try:
        temporary.write_text(CONTENT, encoding="utf-8")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _remove(path: Path) -> None:
    """Removes the file if it is there.

    Raises:
        OSError: it cannot be removed, or depyf did not write it.
    """
    if not path.exists():
        return
    if path.read_text(encoding="utf-8") != CONTENT:
        raise FileExistsError(f"{path} is not a file that `depyf autoload on` of this release wrote; it stays")
    path.unlink()
