"""Tests that files of a dump are changed in place, and stay unchanged if writing fails."""

from __future__ import annotations

import subprocess
import sys

import pytest

from depyf import files


def test_a_file_is_changed_in_its_place_where_it_grows(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("one\ntwo\n")
    before = path.stat().st_ino
    files.edit(path, lambda text: text.replace("one", "one  # \udc80"))
    assert path.read_text() == "one  # \\udc80\ntwo\n" and path.stat().st_ino == before
    files.edit(path, lambda text: "one\n")
    assert path.read_text() == "one\n"
    files.edit(path, lambda text: text)
    assert path.read_text() == "one\n" and [one.name for one in tmp_path.iterdir()] == ["a.py"]
    with pytest.raises(FileNotFoundError):
        files.edit(tmp_path / "b.py", str.upper)


FULL = """
import resource, signal, sys
from pathlib import Path
from depyf import files

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
try:
    files.edit(Path(sys.argv[1]), lambda text: text.replace("x", "yy"))
except OSError as error:
    print(type(error).__name__)
"""


def test_a_file_stays_as_it_was_where_there_is_no_space(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x" * 5000)
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True)
    assert done.stdout.strip() == "OSError", done.stderr
    assert path.read_text() == "x" * 5000 and [one.name for one in tmp_path.iterdir()] == ["a.py"]
