"""The cases of `test_cases.py` on every other interpreter at hand: compiled by it, decompiled by the command, and compared
character by character with their source.

A case whose text differs by version, though its bytecode does not, is in TEXT_DIFFERS: of it only the bytecode is compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interpreters import VERSIONS, interpreter
from test_cases import CASES, HERE, is_known_to_fail, read_case

ROOT = HERE.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
COMPARE = ROOT / "tools" / "roundtrip" / "compare.py"
OTHERS = [version for version in VERSIONS if (3, 12) <= version != sys.version_info[:2]]
TEXT_DIFFERS: dict[str, str] = {}


class Worker:
    """compare.py in the interpreter under test."""

    def __init__(self, python: str):
        self.process = subprocess.Popen([python, str(COMPARE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request: str) -> dict:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


@pytest.mark.parametrize("version", OTHERS, ids=lambda version: "%d.%d" % version)
def test_cases_come_back(version: tuple[int, int], tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    worker = Worker(python)
    sources = {}
    for path in CASES:
        source, first, last = read_case(path)
        if not first <= version <= last or is_known_to_fail(path):
            continue
        name = path.relative_to(HERE).with_suffix("").as_posix()
        file = tmp_path / "in" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
        assert worker.ask(do="compile", src=str(file), pyc=str(file.with_suffix(".pyc")))["ok"], name
        sources[name] = source
    assert len(sources) > 40
    done = subprocess.run([COMMAND, "-o", tmp_path / "out", tmp_path / "in"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wrong = []
    for name, source in sources.items():
        out = tmp_path / "out" / f"{name}.py"
        reply = worker.ask(do="compare", pyc=str(tmp_path / "in" / f"{name}.pyc"), out=str(out))
        wrong += [f"{name}: {row['path']}: {row['reason']}" for row in reply["objects"] if not row["equal"]]
        if name not in TEXT_DIFFERS and out.read_text(encoding="utf-8") != source:
            wrong.append(f"{name}: other text")
    worker.close()
    assert not wrong, "\n".join(wrong)
