"""Tests of tools/roundtrip/whole.py, which proves every module of a list of packages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import whole
import world


def test_each_file_that_compiles_is_proved_or_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A package in the cache is not downloaded.
    package = tmp_path / whole.POOL / "sample"
    package.mkdir(parents=True)
    (package / "good.py").write_text("def f(a):\n    return a + 1\n")
    (package / "broken.py").write_text("def f(:\n")
    names = tmp_path / "names.txt"
    names.write_text("sample\n")
    monkeypatch.setattr(world, "CACHE", tmp_path)
    version = "%d.%d" % sys.version_info[:2]
    keep = tmp_path / "keep"
    monkeypatch.setattr(
        sys, "argv", ["whole.py", "--versions", version, "--candidates", str(names), "--keep", str(keep)]
    )
    assert whole.main() == 0
    assert capsys.readouterr().out == (
        f"{version}: 1 files, 0 failed, 0 marked, 0 state machines, 0 stubs; 2 code objects proved, 0 not\n"
    )
    [source] = (keep / version / "sources").iterdir()
    assert source.read_text().endswith("def f(a):\n    return a + 1\n")
