"""Samples of what tools/prove measures at length: the prover refuses mutants, and what it accepts behaves the same."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "prove"))

import differential  # noqa: E402
import mutants  # noqa: E402


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
