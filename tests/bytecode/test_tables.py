"""Tests that the opcode tables are equal to those of the interpreters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "tools" / "gen_opcodes.py"
TABLES = ROOT / "src" / "decode" / "tables"


def generate(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def test_table_is_what_the_interpreter_gives(python: tuple[tuple[int, int], str]) -> None:
    version, path = python
    table = TABLES / ("py%d%02d.inc" % version)
    assert table.read_text() == generate(path, "-I", str(GENERATOR))


def test_names_are_those_of_all_tables() -> None:
    tables = sorted(map(str, TABLES.glob("py*.inc")))
    assert len(tables) == 8
    assert (TABLES / "names.inc").read_text() == generate(sys.executable, str(GENERATOR), "--names", *tables)
