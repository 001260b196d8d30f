"""Source that is its own expectation: each file here is compiled, decompiled and has to come back character by character.

A first line `# depyf-case: versions 3.11-3.12` (either end may be left out) restricts a file to these versions; a first
line `# depyf-case: not yet` says that it is known to come back otherwise, and fails once that is no longer so. They are
no part of the expectation.

On the other interpreters at hand the cases are compiled there, decompiled by the command, and compared in the same way, and
the bytecode as well; of those in TEXT_DIFFERS, whose text is another one there, only the bytecode.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import depyf
import pytest

from interpreters import VERSIONS, interpreter

HERE = Path(__file__).parent
FILES = sorted(path for path in HERE.rglob("*") if path.is_file() and path != Path(__file__))
HEADER = re.compile(r"# depyf-case: versions (3\.\d+)?-(3\.\d+)?\n")
NOT_YET = "# depyf-case: not yet\n"
FIRST, LAST = (3, 8), (3, 15)
ROOT = HERE.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
COMPARE = ROOT / "tools" / "roundtrip" / "compare.py"
OTHERS = [version for version in VERSIONS if version != sys.version_info[:2]]
TEXT_DIFFERS = {
    "expressions/literals": "the command writes long integers in base 16",
    "expressions/ternary": "`return a if c else b` is `if c: return a`, then `return b`",
    "versions/breaks_that_return": "a `break` to the end of a function is a `return`",
    "statements/docstrings": "3.13 strips the blanks of docstrings",
}
# 3.14 leaves the first test of `(a or b) or c` out of the range that a handler protects, which no source says.
NOT_PROVED = {((3, 14), "exceptions/grouped_operands")}
# From 3.12 on, a variable of a comprehension that is captured there takes the place of a free variable with its name, and
# keeps it behind the comprehension, which the source does not say either.
NOT_PROVED |= {((3, minor), "versions/shadowed_free_variables") for minor in range(12, 16)}


def is_known_to_fail(path: Path) -> bool:
    return path.read_text(encoding="utf-8").startswith(NOT_YET)


def read_case(path: Path) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """The source, the first and the last version that it is for."""
    text = path.read_text(encoding="utf-8").removeprefix(NOT_YET)
    if not text.startswith("# depyf-case:"):
        return text, FIRST, LAST
    header = HEADER.match(text)
    assert header, f"{path}: malformed header"
    first, last = (tuple(map(int, end.split("."))) if end else None for end in header.groups())
    return text[header.end() :], first or FIRST, last or LAST


CASES = [path for path in FILES if path.suffix == ".py" and "__pycache__" not in path.parts]


def parameter(path: Path):
    marks = [pytest.mark.xfail(reason="not yet", strict=True)] if is_known_to_fail(path) else []
    return pytest.param(path, marks=marks, id=path.relative_to(HERE).with_suffix("").as_posix())


@pytest.mark.parametrize("path", [parameter(path) for path in CASES])
def test_source_comes_back(path: Path) -> None:
    source, first, last = read_case(path)
    if not first <= sys.version_info[:2] <= last:
        pytest.skip(f"for Python {first} to {last}")
    code = compile(source, path.name, "exec", dont_inherit=True)
    head, _, text = depyf.decompile(code).partition("\n")
    assert head == "# proved equivalent to the bytecode"
    assert text == source


def test_every_file_is_a_case() -> None:
    others = [path for path in FILES if path not in CASES and "__pycache__" not in path.parts]
    assert not others
    assert len(CASES) >= 40
    for path in CASES:
        source, first, last = read_case(path)
        assert source.strip(), path
        assert FIRST <= first <= last <= LAST, path


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
def test_source_comes_back_from_other_bytecode(version: tuple[int, int], tmp_path: Path) -> None:
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
    done = subprocess.run([COMMAND, "--prove", "--json", tmp_path / "in"], capture_output=True, text=True)
    wrong = []
    for file in json.loads(done.stdout)["files"]:
        name = Path(file["file"]).relative_to(tmp_path / "in").with_suffix("").as_posix()
        rows = file["not_proved"] if (version, name) not in NOT_PROVED else []
        wrong += [f"{name}: {row['name']}: not proved: {row['reason']}" for row in rows]
    for name, source in sources.items():
        out = tmp_path / "out" / f"{name}.py"
        reply = worker.ask(do="compare", pyc=str(tmp_path / "in" / f"{name}.pyc"), out=str(out))
        wrong += [f"{name}: {row['path']}: {row['reason']}" for row in reply["objects"] if not row["equal"]]
        wrong += [f"{name}: {row['path']}: docstring" for row in reply["objects"] if not row["doc"]]
        text = out.read_text(encoding="utf-8")
        if text != source and name not in TEXT_DIFFERS:
            wrong += difflib.unified_diff(source.splitlines(), text.splitlines(), name, "decompiled", lineterm="", n=1)
    worker.close()
    assert not wrong, "\n".join(wrong)
