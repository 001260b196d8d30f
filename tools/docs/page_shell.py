"""The shell in which the commands of a page run: a folder of its own, and an environment that lasts from command to command."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from page_blocks import PageError

ROOT = Path(__file__).resolve().parents[2]
SHOWN_HOME = "~"
SHOWN_ENVIRONMENT = "~/depyf-start"
"""The environment into which the page "Start" installs depyf; shown in place of the path of the environment that runs
the pages."""
PROMPTS = ("(Pdb) ", "(depyf) ")
_OF_THE_MACHINE = "No CUDA runtime is found"
"""A PyTorch built for CUDA prints a warning with these words on a machine without a GPU."""
SECONDS = 3600
"""The time after which a command is ended. The longest command installs PyTorch and compiles depyf, which takes many
minutes on a busy machine."""

_HEADERS = ROOT / ".cache" / "inductor" / "precompiled_headers"
"""The folder of headers that Inductor precompiled, which the tests of depyf share."""

_SCRIPT = """\
source "$DEPYF_DOCS_STATE/environment"
cd "$(cat "$DEPYF_DOCS_STATE/folder")"
(exit {last_status})
{command}
status=$?
export -p > "$DEPYF_DOCS_STATE/environment"
pwd > "$DEPYF_DOCS_STATE/folder"
exit $status
"""


class Shell:
    """Runs commands in a new home directory; `close` removes it."""

    def __init__(self, name: str, *, is_fresh: bool = False, shares_headers: bool = False) -> None:
        """Creates the folder `name` in a new home directory, in which the first command runs.

        is_fresh: depyf is not on PATH and PYTHONPATH, since the page installs it.
        shares_headers: Inductor reuses the headers that other runs precompiled, which shortens the durations on a page.
        """
        self._top = Path(tempfile.mkdtemp(prefix="depyf-docs-")).resolve()
        self.home = self._top / "home"
        self.folder = self.home / name
        self.folder.mkdir(parents=True)
        self.status = 0
        state = self._top / "state"
        state.mkdir()
        (state / "environment").write_text("")
        (state / "folder").write_text(f"{self.folder}\n")
        self._state = state
        self._environment = self._first_environment(is_fresh, shares_headers)

    def close(self) -> None:
        """Removes all that the commands wrote."""
        shutil.rmtree(self._top, ignore_errors=True)

    def enter(self, folder: str) -> None:
        """Creates a folder in the home directory, in which the next command runs."""
        (self.home / folder).mkdir(parents=True, exist_ok=True)
        (self._state / "folder").write_text(f"{self.home / folder}\n")

    def working_folder(self) -> Path:
        """Returns the folder in which the next command runs."""
        return Path((self._state / "folder").read_text().rstrip("\n"))

    def _first_environment(self, is_fresh: bool, shares_headers: bool) -> dict[str, str]:
        """Returns the environment of the first command."""
        dropped = ("DEPYF_", "TORCH", "PYTHON", "PYTEST", "VIRTUAL_ENV", "COV_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        cache = self._top / "cache"
        cache.mkdir()
        if shares_headers:
            _HEADERS.mkdir(parents=True, exist_ok=True)
            (cache / "precompiled_headers").symlink_to(_HEADERS)
        commands = self._top / "bin"
        commands.mkdir()
        path = [str(commands), str(Path(sys.executable).parent)]
        if not is_fresh:
            (commands / "depyf").write_text('#!/bin/sh\nexec python -m depyf "$@"\n')
            (commands / "depyf").chmod(0o755)
            path.append(str(ROOT / "build" / "dev"))
        environment |= {
            "DEPYF_DOCS_STATE": str(self._state),
            "HOME": str(self.home),
            "PATH": os.pathsep.join([*path, environment.get("PATH", os.defpath)]),
            "PYTHONUNBUFFERED": "1",  # keeps texts of stdout and stderr in order
            "TORCHINDUCTOR_CACHE_DIR": str(cache),  # a new cache: everything is compiled
            # On a busy machine, OpenMP threads that wait in a loop would use more processor time than the program
            # itself.
            "OMP_WAIT_POLICY": "PASSIVE",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "COLUMNS": "120",
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        return environment

    def run(self, command: str, typed: Sequence[str] = ()) -> list[str]:
        """Runs a command, types the lines into it, and returns the lines that it printed. Sets `status` to the exit
        status of the command."""
        script = _SCRIPT.format(last_status=self.status, command=command)
        process = subprocess.Popen(
            ["bash", "-c", script],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate("".join(f"{line}\n" for line in typed), timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise PageError(f"the command took more than {SECONDS} s: {command}") from None
        self.status = process.returncode
        return self._shown(output, typed)

    def _shown(self, output: str, typed: Sequence[str]) -> list[str]:
        """Returns output as a terminal would show it, with the typed lines behind the prompts; real paths are replaced
        by `~`."""
        for line in typed:
            prompt = next((prompt for prompt in PROMPTS if prompt in output), None)
            if prompt is None:
                break
            output = output.replace(prompt, f"{prompt.strip()}\0{line}\n", 1)
        output = output.replace("\0", " ").replace(str(self.home), SHOWN_HOME)
        output = "".join(line for line in output.splitlines(keepends=True) if _OF_THE_MACHINE not in line)
        output = output.replace(sys.prefix, SHOWN_ENVIRONMENT)
        return output.removesuffix("\n").split("\n") if output else []
