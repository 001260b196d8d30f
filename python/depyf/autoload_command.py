"""`depyf autoload on | off | status`: installs, removes or reports the hook that captures each program that this Python
environment runs with the variable DEPYF_DIR set.

The hook that captures programs is a .pth file in site-packages, which Python executes at its start. If DEPYF_DIR is not
set, the .pth file does nothing.
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
"""The name of the .pth file. Python executes .pth files in the order of their names. The name sorts behind the names of
other .pth files, because the .pth file of an editable install of depyf has to be executed before the .pth file of the
hook."""
CONTENT = 'import os; os.environ.get("DEPYF_DIR") and __import__("depyf_children").watch()\n'


def add_parser(commands: Commands) -> None:
    """Adds the command `depyf autoload` to the argument parser."""
    parser = commands.add_parser(
        "autoload",
        help="capture each program of this Python environment that runs with DEPYF_DIR",
        description="Writes a file to site-packages of this Python environment, or removes the file. While the file "
        "exists, each program that runs with the environment variable DEPYF_DIR=DIR is captured in DIR, with the "
        "Python processes that the program starts, as `depyf run` captures a program. `depyf explain DIR` prints the "
        "summary. Programs that run without DEPYF_DIR are not affected.",
    )
    parser.add_argument(
        "state",
        choices=["on", "off", "status"],
        help="on: write the file; off: remove the file; status: print whether the file exists",
    )


def run(parsed: argparse.Namespace) -> int:
    """Executes `depyf autoload` and returns its exit status: 1 if the .pth file could not be written or removed, and
    otherwise 0."""
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
        print(f"off: DEPYF_DIR has no effect ({path} does not exist)")
    return 0


def _write(path: Path) -> None:
    """Writes the .pth file completely or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    temporary = path.with_suffix(".new")
    try:
        temporary.write_text(CONTENT, encoding="utf-8")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _remove(path: Path) -> None:
    """Removes the .pth file if it exists.

    Raises:
        OSError: the file cannot be removed, or was not written by this release of depyf.
    """
    if not path.exists():
        return
    if path.read_text(encoding="utf-8") != CONTENT:
        raise FileExistsError(
            f"{path} was not written by `depyf autoload on` of this release, and is not removed; remove the file "
            "yourself if no program needs the file"
        )
    path.unlink()
