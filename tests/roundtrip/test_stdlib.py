"""Sixty modules of the standard library: every code object is decompiled, and the source compiles."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import compare
import functions
from modules import MODULES

ROOT = Path(__file__).parent.parent.parent
COMMAND = ROOT / "build" / "dev" / "depyf-decompile"
RECORDS = ROOT / "build" / "roundtrip"


def examples(rows: list[dict], verdict: str) -> str:
    lines = [
        f"{row['module']}:{row['line']} {row['name']}: {row['reason']}" for row in rows if row["verdict"] == verdict
    ]
    return "\n".join([f"{len(lines)} {verdict}", *lines[:20]])


def record(name: str, rows: list[dict]) -> None:
    RECORDS.mkdir(parents=True, exist_ok=True)
    version = "%d.%d" % sys.version_info[:2]
    (RECORDS / f"{name}-{version}.json").write_text(json.dumps(rows, indent=1))


def test_every_code_object_decompiles_and_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(MODULES) >= 60
    rows = functions.run(MODULES)
    record("functions", rows)
    with capsys.disabled():
        print("\n" + functions.summary(rows))
    assert len(rows) > 6500
    assert not [row for row in rows if row["verdict"] == "raises"], examples(rows, "raises")
    assert not [row for row in rows if row["verdict"] == "no-compile"], examples(rows, "no-compile")
    # Most of the unequal functions load an attribute of a module in another way, because the compiler considers whether
    # a name is imported.
    judged = [row for row in rows if row["verdict"] != "compiles"]
    assert sum(row["verdict"] == "equal" for row in judged) >= 0.87 * len(judged), examples(rows, "differs")


def test_whole_modules_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes = {}
    for name in MODULES:
        path = functions.module_source(name)
        pyc = tmp_path / f"{name}.pyc"
        done = compare.answer({"do": "compile", "src": str(path), "pyc": str(pyc), "name": path.name})
        assert done["ok"], done
        codes[name] = compare.load_pyc(str(pyc))
    command = [COMMAND, "-q", "-j", "2", "-o", tmp_path / "out", *(tmp_path / f"{name}.pyc" for name in MODULES)]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    rows, broken = [], []
    for name, code in codes.items():
        source = (tmp_path / "out" / f"{name}.py").read_bytes()
        compare.GRAPHS.clear()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                new = compile(source, code.co_filename, "exec", dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError) as error:
            broken.append(f"{name}: {error}")
            new = None
        rows += [{"module": name, **row} for row in compare.compare_trees(code, new)]
    record("modules", rows)
    equal = {name for name in MODULES if all(row["equal"] for row in rows if row["module"] == name)}
    objects = sum(row["equal"] for row in rows)
    with capsys.disabled():
        print(f"\nwhole modules: equal {len(equal)} of {len(MODULES)}; code objects in them {objects} of {len(rows)}")
    assert not broken, "\n".join(broken)
    assert objects >= 0.995 * len(rows), [(row["module"], row["path"]) for row in rows if not row["equal"]][:20]
