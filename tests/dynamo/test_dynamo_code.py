"""Tests that Dynamo's code of real models is decompiled, compiled by the CPython version it was generated for, and
proved."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from depyf import _core, names
from interpreters import interpreter

HERE = Path(__file__).parent
COMMAND = HERE.parent.parent / "build" / "dev" / "depyf-decompile"


def test_every_code_object_is_proved(tmp_path: Path) -> None:
    python = interpreter((3, 10))
    if python is None:
        pytest.skip("no CPython 3.10 here")
    originals, sources = tmp_path / "originals", tmp_path / "sources"
    with tarfile.open(HERE / "code_objects.tar.xz") as archive:
        archive.extractall(originals, filter="data")
    paths = sorted(path.relative_to(originals) for path in originals.rglob("*.pyc"))
    assert len(paths) == 185
    done = subprocess.run([COMMAND, "-q", "-o", sources, originals], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    marked = [path for path in paths if "not equal" in (sources / path).with_suffix(".py").read_text()]
    assert not marked
    command = [python, "-I", HERE / "recompile.py", originals, sources, Path(names.__file__).parent]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    refused = {}
    for path in paths:
        proofs = _core.prove_pyc((originals / path).read_bytes(), (sources / path).read_bytes())
        if not all(proofs):
            refused[str(path)] = next(proof for proof in proofs if not proof)
    assert not refused
