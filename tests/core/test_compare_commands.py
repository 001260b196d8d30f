"""tools/compare_commands.py notices a difference; `make aarch64` compares a cross-compiled command with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
COMMAND = str(ROOT / "build" / "dev" / "depyf-decompile")


def compare(*commands: str) -> subprocess.CompletedProcess[str]:
    program = str(ROOT / "tools" / "compare_commands.py")
    return subprocess.run([sys.executable, program, sys.executable, "2", *commands], capture_output=True, text=True)


def test_equal_commands() -> None:
    done = compare(COMMAND, "--", "env", COMMAND)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 modules, ")


def test_a_command_that_prints_something_else() -> None:
    done = compare(COMMAND, "--", COMMAND, "--dis")
    assert done.returncode == 1
    assert "prints something else" in done.stderr


def test_commands_that_print_nothing() -> None:
    assert compare("true", "--", "true").returncode == 1
