"""Tests of depyf.prove with equal and with different code, and of the reasons in the result."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterator

import pytest

import depyf
from depyf import _core
from depyf.proof import Assumptions
from interpreters import VERSIONS, interpreter
from lifetime_pairs import LONGER, NO_LONGER
from prove_pairs import DIFFERENT, SAME, Pairs

# The versions whose compiler generates equal code for a pair of DIFFERENT; from 3.11 on, .pyc files store the items of
# a set in one order.
EQUAL_IN = {
    "assert global": VERSIONS[:1],
    "bool twice": [(3, 12), (3, 13)],
    "frozenset order": [it for it in VERSIONS if it > (3, 11)],
}
# Pairs of SAME whose second function keeps a value alive longer, or may do so as far as the prover can tell.
HOLDING = {"a state machine"}
# Pairs that the prover never decides.
UNDECIDED = {"const tuples is"}


def source(body: str) -> str:
    return "def f(a, b, c, g, h, E):\n" + textwrap.indent(textwrap.dedent(body), "    ")


def function(body: str) -> types.CodeType:
    code = compile(source(body), "f.py", "exec", dont_inherit=True)
    return next(it for it in code.co_consts if isinstance(it, types.CodeType))


# A program that reads pairs of sources, and writes two .pyc files for each pair, or None if the version cannot parse
# them.
COMPILER = """
import importlib.util, json, marshal, sys
def compiled(source):
    code = compile(source, "f.py", "exec", dont_inherit=True)
    return (importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)).hex()
for name, sources in json.load(sys.stdin).items():
    try:
        print(json.dumps([name, *map(compiled, sources)]))
    except SyntaxError:
        pass
"""


def compiled_by(python: str, pairs: Pairs) -> Iterator[tuple[str, bytes, bytes]]:
    sources = {name: [*map(source, pair)] for name, pair in pairs.items()}
    command = [python, "-W", "ignore", "-c", COMPILER]
    done = subprocess.run(command, input=json.dumps(sources), capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        name, one, two = json.loads(line)
        yield name, bytes.fromhex(one), bytes.fromhex(two)


@pytest.mark.parametrize("name", SAME)
def test_same(name: str) -> None:
    one, two = map(function, SAME[name])
    proof = depyf.prove(one, two, lifetimes=name not in HOLDING)
    assert proof, proof
    assert proof.reason == ""
    assert proof.where is None
    assert depyf.prove(two, one, lifetimes=name not in HOLDING)


@pytest.mark.parametrize("name", LONGER)
def test_longer(name: str) -> None:
    one, two = map(function, LONGER[name])
    assert _core.prove(one, one) and _core.prove(two, two)
    # `one` releases its values earlier than `two`, so the proof has no value that is kept longer
    assert depyf.prove(two, one)
    proof = depyf.prove(one, two)
    assert not proof and proof.same_effects
    assert "kept alive longer" in proof.reason
    assert depyf.prove(one, two, lifetimes=False)
    assert all(kept.local or kept.value for kept in proof.kept)


@pytest.mark.parametrize("name", NO_LONGER)
def test_no_longer(name: str) -> None:
    one, two = map(function, NO_LONGER[name])
    proof = depyf.prove(one, two)
    assert proof, proof
    assert not proof.kept


def test_kept_says_which_local_and_where() -> None:
    (kept,) = depyf.prove(*map(function, LONGER["a local behind its last use"])).kept[1:]
    assert (kept.local, kept.line, kept.function, kept.outermost) == ("x", 4, "f", True)


def test_a_frame_evaluation_function_keeps_operands() -> None:
    one, two = map(function, LONGER["an argument that the call is given"])
    assert depyf.prove(one, two, assumptions=Assumptions(hooked=True))
    one, two = map(function, LONGER["a list that is passed on"])  # a function that gets the list may empty it
    assert not depyf.prove(one, two, assumptions=Assumptions(hooked=True))


def test_installed_globals_are_no_effect() -> None:
    one, two = function("g()\nreturn G(a)"), function("x = G\ng()\nreturn x(a)")
    assert not depyf.prove(one, two, lifetimes=False)
    assert depyf.prove(one, two, assumptions=Assumptions(installed=frozenset({"G"})))
    stored = function("global G\ng()\nx = G\nG = a\nreturn x")
    other = function("global G\nx = G\ng()\nG = a\nreturn x")
    assert not depyf.prove(stored, other, assumptions=Assumptions(installed=frozenset({"G"})))


def test_outputs_are_a_new_container() -> None:
    one = function("x = G(a)\ny = x[0]\nz = x[1]\ndel x\ng(y)\ndel y\nreturn z")
    two = function("y, z = G(a)\ng(y)\ndel y\nreturn z")
    known = Assumptions(installed=frozenset({"G"}), outputs={"G": ("", "")})
    assert not depyf.prove(one, two, lifetimes=False)
    assert depyf.prove(one, two, assumptions=known)
    assert depyf.prove(two, one, assumptions=known)
    assert not depyf.prove(one, two, assumptions=Assumptions(known.hooked, known.installed, {"G": ("", "", "")}))
    # The prover does not know whether G returns a tuple or a list.
    assert not depyf.prove(function("return G(a)"), function("x, y = G(a)\nreturn (x, y)"), assumptions=known)
    assert not depyf.prove(function("return G(a)[0:]"), function("return G(a)"), assumptions=known)


@pytest.mark.parametrize("name", DIFFERENT)
def test_different(name: str) -> None:
    one, two = map(function, DIFFERENT[name])
    assert _core.prove(one, one) or name in UNDECIDED
    if sys.version_info[:2] in EQUAL_IN.get(name, ()):
        return
    proof = depyf.prove(one, two)
    assert not proof
    assert proof.reason
    assert not depyf.prove(two, one)


OTHERS = [version for version in VERSIONS if version != sys.version_info[:2]]


@pytest.mark.parametrize("version", OTHERS, ids=lambda it: "%d.%d" % it)
def test_other_interpreters(version: tuple[int, int]) -> None:
    python = interpreter(version)
    if not python:
        pytest.skip("no CPython %d.%d at hand" % version)
    count = in_lockstep = 0
    for name, one, two in compiled_by(python, DIFFERENT):
        in_lockstep += bool(_core.prove_pyc(one, one, lockstep=True)[0])
        if version not in EQUAL_IN.get(name, ()):
            assert not _core.prove_pyc(one, two)[0], name
            assert not _core.prove_pyc(one, two, lockstep=True)[0], name
            assert not _core.prove_pyc(two, one, lockstep=True)[0], name
        assert _core.prove_pyc(one, one)[0] or name in UNDECIDED, name
        count += 1
    # The lockstep proof does not prove code with a block stack (up to 3.10), and code for which it lacks a rule of the
    # prover.
    assert in_lockstep > 0.8 * count, (in_lockstep, count)
    for name, one, two in compiled_by(python, SAME):
        proof = _core.prove_pyc(one, two, name not in HOLDING)[0]
        assert proof, (name, proof)
        count += 1
    for name, one, two in compiled_by(python, LONGER):
        assert _core.prove_pyc(two, one, lifetimes=True)[0], name
        proof = _core.prove_pyc(one, two, lifetimes=True)[0]
        assert not proof and proof.same_effects, name
        count += 1
    for name, one, two in compiled_by(python, NO_LONGER):
        assert _core.prove_pyc(one, two, lifetimes=True)[0], name
        count += 1
    assert count > 250


# For pairs of versions: the pairs of DIFFERENT that are equal across them, because one version tests a value twice or
# looks a global name up.
ACROSS = {
    ((3, 8), (3, 12)): {"assert global", "bool twice"},
    ((3, 9), (3, 10)): set(),
    ((3, 10), (3, 11)): set(),
    ((3, 11), (3, 12)): {"bool twice"},
    ((3, 12), (3, 13)): {"bool twice"},
    ((3, 14), (3, 15)): set(),
}


@pytest.mark.parametrize("versions", ACROSS, ids=lambda it: "%d.%d and %d.%d" % (it[0] + it[1]))
def test_across_versions(versions: tuple[tuple[int, int], tuple[int, int]]) -> None:
    pythons = [python for version in versions if (python := interpreter(version))]
    if len(pythons) < 2:
        pytest.skip("no two such CPythons at hand")
    tables = [{name: both for name, *both in compiled_by(python, SAME | DIFFERENT)} for python in pythons]
    common = [name for name in tables[0] if name in tables[1]]
    proved = 0
    for name in common:
        (one, two), (other_one, other_two) = tables[0][name], tables[1][name]
        if name in DIFFERENT and name not in ACROSS[versions] | {"frozenset order"}:
            assert not _core.prove_pyc(one, other_two)[0], name
            assert not _core.prove_pyc(two, other_one)[0], name
            assert not _core.prove_pyc(one, other_two, lockstep=True)[0], name
            assert not _core.prove_pyc(two, other_one, lockstep=True)[0], name
        proved += bool(_core.prove_pyc(one, other_one)[0])
    # The unproved pairs have operations with another meaning, or another number of operations (see
    # tools/prove/stdlib.py --other).
    assert len(common) > 200 and proved > 0.85 * len(common)


def test_where() -> None:
    proof = depyf.prove(function("a.x\nreturn b.y"), function("a.x\n\nreturn b.z"))
    where = proof.where
    assert where is not None
    assert (where.function, where.line_one, where.line_two) == ("f", 3, 4)
    assert (where.one, where.two) == ("load attr y: argument b", "load attr z: argument b")
    assert "load attr y" in repr(proof)


def test_constants_that_are_any_object() -> None:
    def with_constant(value: object) -> types.CodeType:
        code = function("return 17")
        return code.replace(co_consts=tuple(value if it == 17 else it for it in code.co_consts))

    one: list[int] = []
    two: list[int] = []
    # In 3.14, 17 is no constant of the code, so that nothing differs.
    if 17 in function("return 17").co_consts:
        assert depyf.prove(with_constant(one), with_constant(one))
        assert not depyf.prove(with_constant(one), with_constant(two))


def test_arguments_are_part_of_it() -> None:
    def first(a, b): ...
    def second(a, c): ...
    def third(a, b=1, *, c): ...

    assert not depyf.prove(first.__code__, second.__code__)
    assert not depyf.prove(first.__code__, third.__code__)


def test_what_is_no_code() -> None:
    with pytest.raises(TypeError):
        depyf.prove(1, function("pass"))  # type: ignore[arg-type]
