"""Tests that depyf.step works while a real debugger is attached, and that the debugger works afterwards."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from interpreters import interpreter

pytest.importorskip("torch")

from debug.sessions import Adapter, Pdb, stop  # noqa: E402

PROGRAM = Path(__file__).with_name("attended.py")
LINES = {name: n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) for name in [line.partition("  # ")[2]]}
FIRST, INSIDE, AFTERWARDS = (LINES[name] for name in ("the first stop", "in the block", "when all is over"))
HERE = sys.version_info[:2]
VERSIONS = sorted({HERE, (3, 12), (3, 13), (3, 14)})


def python(version, extensions):
    """Builds the extension module for a version, and returns the interpreter of the version."""
    if version == HERE:
        return sys.executable
    found = interpreter(version)
    if found is None:
        pytest.skip("no such CPython here")
    extensions(version)
    return found


def paths(*more):
    root = PROGRAM.parents[2]
    return {"PYTHONPATH": os.pathsep.join(map(str, [root / "python", root / "tests", *more]))}


def check(printed, version):
    """Checks the program's output: the results are right, and the numbers of stops are large enough."""
    lines = [line for line in printed.splitlines() if line.startswith(("STEPPED", "DEBUGGER", "AS BEFORE"))]
    stepped, debugger, as_before = lines
    *right, stops, compiled = stepped.split()
    assert right == ["STEPPED", "True", "[]"]
    assert int(stops) > 200 and (int(compiled) > 30 or version != HERE)
    assert debugger == "DEBUGGER []"  # depyf.step must not stop in the debugger's own functions
    assert as_before == "AS BEFORE True"


@pytest.mark.parametrize("version", VERSIONS, ids=lambda v: "%d.%d" % v)
def test_under_pdb(version, extensions):
    with Pdb("-m", "pdb", PROGRAM, python=python(version, extensions), environment=paths()) as pdb:
        pdb.say(f"b {PROGRAM}:{FIRST}")
        pdb.say(f"b {PROGRAM}:{AFTERWARDS}")
        assert stop(pdb.say("c")) == (str(PROGRAM), FIRST, "main")
        answer = pdb.say("n")
        while stop(answer)[1] < INSIDE:  # pdb steps line by line into the block
            answer = pdb.say("n")
        assert stop(answer) == (str(PROGRAM), INSIDE, "main")
        attached = pdb.say("p tools()")
        if version >= (3, 12):
            # pdb of 3.14 has its own tool id; in earlier versions, pdb is the trace function.
            assert (
                "'depyf.step'" in attached and ("'bdbtracer'" if version >= (3, 14) else "trace_dispatch") in attached
            )
        answer = pdb.say("c")
        assert stop(answer) == (str(PROGRAM), AFTERWARDS, "afterwards")
        check(pdb.say("c"), version)


# The wheel of debugpy that is installed has no adapter that starts under 3.14.
@pytest.mark.parametrize("version", [v for v in VERSIONS if v in (HERE, (3, 12), (3, 13))], ids=lambda v: "%d.%d" % v)
def test_under_debugpy(version, extensions, tmp_path):
    debugpy = importlib.util.find_spec("debugpy")
    if debugpy is None:
        pytest.skip("debugpy is not installed")
    # The compiled parts of debugpy fit only the CPython of the tests; other interpreters run debugpy's Python code.
    tmp_path.joinpath("debugpy").symlink_to(Path(debugpy.origin).parent)
    environment = paths(tmp_path)
    with Adapter(PROGRAM, python=python(version, extensions), environment=environment) as debugger:
        assert debugger.stopped() == (str(PROGRAM), FIRST)
        debugger.break_at(PROGRAM, AFTERWARDS)
        assert version < (3, 12) or "['pydevd', None" in debugger.evaluate("str(tools())")
        debugger.resume()
        assert debugger.stopped() == (str(PROGRAM), AFTERWARDS)
        assert debugger.evaluate("x") == "1"
        debugger.resume()
        check(debugger.output(), version)
