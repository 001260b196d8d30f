"""Samples of the measurements of tools/prove: the prover refuses mutants, and code that it accepts behaves the same."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from interpreters import interpreter

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "prove"))

import agreement  # noqa: E402
import differential  # noqa: E402
import mutants  # noqa: E402
import stdlib  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the sample is of the library of CPython 3.11")
def test_mutants_are_refused():
    made, survivors = mutants.attempt(400, seed=5)
    assert len(made) >= 14 and not survivors, [(kind, file, code.co_name) for kind, file, code, _ in survivors]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_is_proved_behaves_the_same():
    result = differential.run(25, number=3)
    assert not result.wrong
    assert result.pairs > 200 and result.proved > 60 and result.differ > 20


def test_the_worlds_tell_functions_apart():
    source = "def f(a, b):\n    if a.p:\n        return a\n    return b.q(a)\n"
    code = differential.compiled(source)
    for wrong in ("if a.q:", "if not a.p:", "if a.p and a:"):
        other = differential.compiled(source.replace("if a.p:", wrong))
        assert any(differential.outcome(code, n) != differential.outcome(other, n) for n in range(20)), wrong
    assert all(differential.outcome(code, n) == differential.outcome(code, n) for n in range(20))


def test_every_form_is_compared():
    source = "def f(a, b):\n    return a.p(b) + 1\n"
    kinds = [kind for kind, _ in differential.variants(source, differential.compiled(source), random.Random(1))]
    assert {"readable", "plain", "exact", "unparsed", "operator", "name"} <= set(kinds)


@pytest.mark.parametrize("command", ["", COMMAND], ids=["unparsed", "decompiled"])
@pytest.mark.parametrize("version", [(3, 8), (3, 11), (3, 13)], ids=lambda it: "%d.%d" % it)
def test_what_compare_calls_equal_is_proved(version: tuple[int, int], command: str):
    if not (python := interpreter(version)):
        pytest.skip("no such CPython at hand")
    result = agreement.attempt(python, 5, command)
    assert not result.refused
    assert result.codes > 50


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)], ids=lambda it: "%d.%d" % it)
def test_decompiled_modules_are_proved_or_marked(version: tuple[int, int]):
    if not (python := interpreter(version)):
        pytest.skip("no such CPython at hand")
    result = stdlib.attempt(python, sample=8, command=COMMAND, check=True)
    # The eight chosen files contain tests of the compiler; in 60 modules, at least 99.5 % of the code objects are
    # proved (make prove).
    assert result.codes > 100 and result.proved >= 0.95 * result.codes
    assert not result.unmarked


def test_what_is_marked():
    text = b"def f():\n    # depyf: not equal: x\n    return 1\nclass A:\n    def g(self): return 2\n"
    assert stdlib.is_marked(text, "f") and not stdlib.is_marked(text, "A.g")
    assert stdlib.is_marked(b"# depyf: not equal: x\n" + text, "A.g")
