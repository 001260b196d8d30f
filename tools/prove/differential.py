#!/usr/bin/env python3
"""Tests that code which is proved to be equal behaves the same. Random functions, and variants of each, are run on
random objects.

    differential.py --pairs 100000

Hypothesis generates functions; each function is paired with its decompiled code in every style, with the output of
`ast.unparse` for it, and with single mutants of its source. Every pair is run in several worlds: all arguments of a
function are objects that record each operation on them, and answer it at random, sometimes with an exception. The
functions of a proved pair must leave the same records and end in the same way. Prints the numbers of pairs, of proved
pairs and of pairs that behave differently, and every proved pair that behaves differently.
"""

from __future__ import annotations

import argparse
import ast
import collections
import copy
import random
import re
import sys
import types
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import mutants  # noqa: E402

from depyf import _core, decompilation  # noqa: E402
from depyf.proof import NOTHING  # noqa: E402

warnings.simplefilter("ignore")

LOCALS = ("a", "b", "c", "x", "y", "z")
EQUAL = ("readable", "plain", "exact", "unparsed")  # the kinds of pairs whose functions are equal by construction
EVENTS_MAX = 120  # the maximal number of recorded operations in one run


class Stop(BaseException):
    """Ends a run that has recorded EVENTS_MAX operations."""


class World:
    """The state that the objects of one run share: a list of all recorded operations, and the number that seeds the
    random answers."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.notes: list[Any] = []
        self.made = 0

    def note(self, what: str, *operands: Any) -> random.Random:
        self.notes.append((what, *map(self.said, operands)))
        if len(self.notes) > EVENTS_MAX:
            raise Stop
        rng = random.Random(f"{self.number}/{len(self.notes)}/{what}")
        if rng.random() < 0.02:
            raise rng.choice([ValueError, KeyError, TypeError, StopIteration])("noted")
        return rng

    def said(self, value: Any, depth: int = 5) -> Any:
        """Returns a value as comparable data. Values nested more than `depth` levels deep are represented by their
        type, because a container may contain itself."""
        if isinstance(value, Thing):
            return ("thing", object.__getattribute__(value, "_id"))
        inner = lambda it: self.said(it, depth - 1)  # noqa: E731
        # sorted, because sets of functions are iterated in the order of addresses
        if depth and isinstance(value, (set, frozenset)):
            return (type(value).__name__, *sorted(map(inner, value), key=repr))
        if depth and isinstance(value, (list, tuple)):
            return (type(value).__name__, *map(inner, value))
        if depth and isinstance(value, dict):
            return ("dict", *((inner(key), inner(item)) for key, item in value.items()))
        if isinstance(value, slice):
            return ("slice", inner(value.start), inner(value.stop), inner(value.step))
        if isinstance(value, str):
            return re.sub("0x[0-9a-f]+", "0x", value)  # removes the address from the repr of a function
        return repr(value) if isinstance(value, (int, float, str, bool, bytes, type(None))) else type(value).__name__

    def thing(self) -> Thing:
        self.made += 1
        return Thing(self, self.made)


class Thing:
    """An object that records every operation on it in its world."""

    def __init__(self, world: World, number: int) -> None:
        object.__setattr__(self, "_world", world)
        object.__setattr__(self, "_id", number)

    def __getattribute__(self, name: str) -> Any:
        world = object.__getattribute__(self, "_world")
        if name.startswith("__"):
            return object.__getattribute__(self, name)
        world.note("get", self, name)
        return world.thing()

    def __setattr__(self, name: str, value: Any) -> None:
        object.__getattribute__(self, "_world").note("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "_world").note("delete", self, name)

    def __bool__(self) -> bool:
        return object.__getattribute__(self, "_world").note("bool", self).random() < 0.5

    def __iter__(self) -> Any:
        world = object.__getattribute__(self, "_world")
        count = world.note("iter", self).randrange(4)

        def items() -> Any:
            for _ in range(count):
                world.note("next", self)
                yield world.thing()

        return items()

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        return object.__getattribute__(self, "_world").note("exit", self, kind and kind.__name__).random() < 0.3

    def __hash__(self) -> int:
        object.__getattribute__(self, "_world").note("hash", self)
        return object.__getattribute__(self, "_id")

    def __format__(self, spec: str) -> str:
        object.__getattribute__(self, "_world").note("format", self, spec)
        return f"thing {object.__getattribute__(self, '_id')}"


def _noted(name: str, result: bool = True) -> Any:
    def method(self: Thing, *operands: Any, **named: Any) -> Any:
        world = object.__getattribute__(self, "_world")
        world.note(name, self, *operands, named)
        return world.thing() if result else None

    return method


for _name in (
    "call getitem add radd sub rsub mul rmul matmul iadd isub lt le gt ge eq ne neg pos invert enter pow rpow mod rmod"
).split():
    setattr(Thing, f"__{_name}__", _noted(_name))
for _name in ("setitem", "delitem"):
    setattr(Thing, f"__{_name}__", _noted(_name, False))
Thing.__contains__ = lambda self, item: object.__getattribute__(self, "_world").note("in", self, item).random() < 0.5
Thing.__repr__ = lambda self: f"<thing {object.__getattribute__(self, '_id')}>"


class Writer:
    """Writes a random function. Hypothesis makes every choice, so that it can reduce a failing example."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.budget = 40
        self.loops = 0
        self.yields = rng.random() < 0.15

    def atom(self) -> str:
        return self.rng.choice([*LOCALS, *LOCALS, "g", "h", "1", "'s'", "None", "True", "2.5"])

    def expression(self, depth: int = 3) -> str:
        self.budget -= 1
        if depth == 0 or self.budget < 0:
            return self.atom()
        of = lambda: self.expression(depth - 1)  # noqa: E731
        name = self.rng.choice(LOCALS)
        made = [
            self.atom,
            self.atom,
            lambda: f"{self.primary(depth)}.{self.rng.choice(('p', 'q'))}",
            lambda: f"{self.primary(depth)}[{of()}]",
            lambda: f"{self.primary(depth)}[{of()}:{of()}]",
            lambda: f"{self.primary(depth)}({of()}, {of()})",
            lambda: f"{self.primary(depth)}(*{of()}, k={of()})",
            lambda: f"{self.primary(depth)}.m({of()})",
            lambda: f"({of()} {self.rng.choice(('+', '-', '*', '%', '@'))} {of()})",
            lambda: f"({of()} {self.rng.choice(('<', '==', 'is', 'in', 'not in', 'is not', '>='))} {of()})",
            lambda: f"({of()} < {of()} <= {of()})",
            lambda: f"({of()} {self.rng.choice(('and', 'or'))} {of()})",
            lambda: f"(not {of()})",
            lambda: f"(-{of()})",
            lambda: f"({of()} if {of()} else {of()})",
            lambda: f"[{of()}, {of()}]",
            lambda: f"({of()}, {of()})",
            lambda: f"[{of()}, *{of()}]",
            lambda: f"{{'k': {of()}, 'l': {of()}}}",
            lambda: f"[{of()}, {of()}][{self.rng.randrange(-2, 2)}]",
            lambda: f"({name} := {of()})",
            lambda: "f'{" + self.primary(0) + "!r}{" + self.primary(0) + ":>{" + self.primary(0) + "}}'",
            lambda: f"[{of()} for i in {of()} if {of()}]",
            lambda: f"({of()}, {of()})[{self.rng.choice((':', '1:', '0', '-1', ':1'))}]",
            lambda: f"{{{of()}: {of()}, {of()}: {of()}}}",
            lambda: f"{{{of()}, {of()}}}",
            lambda: f"{{**{of()}, 'k': {of()}}}",
            lambda: f"{self.primary(depth)}(*({of()}, {of()}), **{{'k': {of()}, 'l': {of()}}})",
            lambda: f"({name} is {self.rng.choice(LOCALS)})",
            lambda: f"(lambda i: ({name}, i))",
        ]
        return self.rng.choice(made)()

    def primary(self, depth: int) -> str:
        return self.rng.choice([*LOCALS[:3], "g", "h"]) if depth < 2 else f"({self.expression(depth - 1)})"

    def target(self) -> str:
        return self.rng.choice(
            [
                *LOCALS,
                *LOCALS,
                f"{self.primary(0)}.p",
                f"{self.primary(0)}[{self.atom()}]",
                "x, y",
                "x, *y",
                "a, (b, c)",
            ]
        )

    def block(self, depth: int) -> list[str]:
        lines = []
        for _ in range(self.rng.randrange(1, 4)):
            lines += self.statement(depth)
        return ["    " + line for line in lines]

    def statement(self, depth: int) -> list[str]:
        self.budget -= 1
        rng, of = self.rng, self.expression
        simple = [
            lambda: [f"{self.target()} = {of()}"],
            lambda: [f"{self.target()} = {of()}"],
            lambda: [f"x = y = {of()}"],
            lambda: [f"x, y = {of()}, {of()}"],
            lambda: [of()],
            lambda: [f"{rng.choice(LOCALS)} += {of()}"],
            lambda: [f"{self.primary(0)}.p -= {of(1)}"],
            lambda: [f"{self.primary(0)}[{self.atom()}] += {of(1)}"],
            lambda: [f"del {rng.choice(LOCALS)}"],
            lambda: [f"del {self.primary(0)}.p"],
            lambda: [f"return {of()}"],
            lambda: [f"assert {of()}, {of(1)}"],
            lambda: [f"raise {of(1)}"],
            lambda: ["global v", f"v = {of()}"][1:],
            lambda: [f"x = [{self.atom()}, {self.atom()}]", f"x.append({self.atom()})", f"y = x[{rng.randrange(3)}]"],
            lambda: [f"x = [{self.atom()}]", f"y = [x, {self.atom()}]", "z, x = y", "z.extend([a, b])"],
            lambda: [f"x = {{'k': {self.atom()}}}", f"x['l'] = {self.atom()}", "y = x['k']"],
            lambda: [f"x = [{of(1)}]", "y = x", f"{rng.choice('xy')}.append({of(1)})", f"z = {rng.choice('xy')}[-1]"],
            lambda: [f"x = ({of(1)}, {self.atom()})", f"y = x[{rng.choice((':', ':1', '1:'))}]", "z = [x, y]"],
            lambda: [f"*x, y = [{of(1)}, {of(1)}]", f"z = {rng.choice('xy')}"],
            lambda: [f"yield {of(1)}"] if self.yields else [f"z = {of(1)}"],
            lambda: [
                f"y = {of(1)}",
                f"def k(i={of(1)}):",
                f"    {rng.choice(('nonlocal y', 'pass'))}",
                f"    y = {self.atom()}",
                f"    return {rng.choice(('y', 'x', 'i'))}",
                f"{rng.choice(('z = k()', 'z = y', 'k()', 'z = k'))}",
            ],
        ]
        if self.loops:
            simple += [lambda: ["break"], lambda: ["continue"]]
        if depth == 0 or self.budget < 0:
            return rng.choice(simple)()
        kind = rng.randrange(10)
        if kind == 0:
            return [f"if {of()}:", *self.block(depth - 1)]
        if kind == 1:
            return [f"if {of()}:", *self.block(depth - 1), "else:", *self.block(depth - 1)]
        if kind == 2 or kind == 3:
            self.loops += 1
            body = self.block(depth - 1)
            self.loops -= 1
            # the call is recorded, so EVENTS_MAX ends the loop
            head = f"for {self.target()} in {of(1)}:" if kind == 2 else f"while g.m({of()}):"
            return [head, *body] + (["else:", *self.block(depth - 1)] if rng.random() < 0.3 else [])
        if kind == 4:
            return [
                "try:", *self.block(depth - 1),
                rng.choice(("except ValueError as e:", "except (KeyError, TypeError):", "except Exception as e:")),
                *self.block(depth - 1),
            ]  # fmt: skip
        if kind == 5:
            # no `continue` or `break` is written into `try: ... finally: ...`, since CPython 3.8 has special rules for
            # them
            loops, self.loops = self.loops, 0
            lines = ["try:", *self.block(depth - 1), "finally:", *self.block(depth - 1)]
            self.loops = loops
            return lines
        if kind == 6:
            return [f"with {of(1)}{rng.choice(('', ' as x', ' as (y, z)'))}:", *self.block(depth - 1)]
        return rng.choice(simple)()

    def function(self) -> str:
        lines = []
        for _ in range(self.rng.randrange(1, 5)):
            lines += self.statement(2)
        if self.yields:
            lines.append(f"yield {self.expression(1)}")
        lines.append(f"return {self.expression(2)}")
        return (
            f"def f({', '.join(LOCALS[: self.rng.randrange(3, 7)])}):\n"
            + "\n".join("    " + line for line in lines)
            + "\n"
        )


# The functions below change the source of a function; only some of the changes preserve the function's behaviour.


def other_local(node: ast.AST, rng: random.Random) -> bool:
    if not isinstance(node, ast.Name) or node.id not in LOCALS:
        return False
    node.id = rng.choice([it for it in LOCALS if it != node.id])
    return True


def duplicate(node: ast.AST, rng: random.Random) -> bool:
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return False
    i = rng.randrange(len(body))
    body.insert(i, body[i])
    return True


def value_in_place(node: ast.AST) -> tuple[str, ast.expr] | None:
    """Returns (the name of a field of `node`, the expression in it whose value the node uses), or None if there is
    none."""
    fields = [
        ("value", it) for it in [getattr(node, "value", None)] if not isinstance(node, (ast.Attribute, ast.Subscript))
    ]
    fields += [(name, getattr(node, name, None)) for name in ("test", "iter", "left", "right", "operand")]
    return next(((name, it) for name, it in fields if isinstance(it, ast.expr)), None)


def display(node: ast.AST, rng: random.Random) -> bool:
    """Replaces an expression `e` by a display from which `e` is read again, such as `[e][0]` or `{'k': e}['k']`."""
    if (found := value_in_place(node)) is None or isinstance(found[1], ast.Starred):
        return False
    name, value = found
    shape = rng.choice(("[0][0]", "(0,)[0]", "{'k': 0}['k']", "[1, 0][-1]", "(0, 1)[:1][0]", "[*[0]][0]"))
    tree = ast.parse(shape, mode="eval").body
    for at in ast.walk(tree):
        for field_name, items in ast.iter_fields(at):
            if isinstance(items, list):
                items[:] = [value if isinstance(it, ast.Constant) and it.value == 0 and field_name in ("elts", "values")
                            else it for it in items]  # fmt: skip
    setattr(node, name, tree)
    return True


def hoist(node: ast.AST, rng: random.Random) -> bool:
    """Assigns a part of a statement to a name in front of the statement."""
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return False
    i = rng.randrange(len(body))
    if isinstance(body[i], (ast.While, ast.FunctionDef, ast.Try)):
        return False
    places = [(at, found) for at in ast.walk(body[i]) if (found := value_in_place(at))]
    if not places:
        return False
    at, (name, value) = rng.choice(places)
    setattr(at, name, ast.Name("t", ast.Load()))
    body.insert(i, ast.Assign([ast.Name("t", ast.Store())], value))
    return True


def outwards(node: ast.AST, rng: random.Random) -> bool:
    """Moves the last or first statement of a block behind or before the statement that contains the block."""
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return False
    places = [i for i, it in enumerate(body) if len(getattr(it, "body", [])) > 1]
    if not places:
        return False
    i = rng.choice(places)
    if rng.random() < 0.5:
        body.insert(i, body[i].body.pop(0))
    else:
        body.insert(i + 1, body[i].body.pop())
    return True


def apart(node: ast.AST, rng: random.Random) -> bool:
    """Splits `x, y = e, f` into one assignment for each name."""
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return False
    for i, it in enumerate(body):
        if not isinstance(it, ast.Assign) or not isinstance(it.value, ast.Tuple):
            continue
        if not isinstance(it.targets[0], ast.Tuple) or len(it.targets[0].elts) != len(it.value.elts):
            continue
        body[i : i + 1] = [ast.Assign([to], value) for to, value in zip(it.targets[0].elts, it.value.elts)]
        return True
    return False


REWRITES = [other_local, duplicate, display, hoist, outwards, apart]


def rewritten(function: ast.AST, mutate: Any, rng: random.Random) -> types.CodeType | None:
    tree = copy.deepcopy(function)
    nodes = list(ast.walk(tree))
    rng.shuffle(nodes)
    return mutants.compiled(tree) if any(mutate(it, rng) for it in nodes) else None


def compiled(source: str | ast.Module) -> types.CodeType:
    module = compile(source, "m", "exec", dont_inherit=True)
    return next(it for it in module.co_consts if isinstance(it, types.CodeType))


def outcome(code: types.CodeType, number: int) -> Any:
    """Runs a function on the objects of a new `World`. Returns (the result of the function, or the types of its
    exception and of the exception's contexts; the recorded operations)."""
    world = World(number)
    space = {"g": world.thing(), "h": world.thing(), "__builtins__": {"ValueError": ValueError, "KeyError": KeyError,
             "TypeError": TypeError, "Exception": Exception, "AssertionError": AssertionError}}  # fmt: skip
    function = types.FunctionType(code, space)
    end: Any
    try:
        result = function(*(world.thing() for _ in range(code.co_argcount)))
        if isinstance(result, types.GeneratorType):
            sent = None
            for _ in range(10):
                world.notes.append(("yielded", world.said(result.send(sent))))
                sent = world.thing()
        end = ("returned", world.said(result))
    except Stop:
        end = ("stopped",)
    except RecursionError:
        raise
    except BaseException as error:
        context = []
        at: BaseException | None = error
        while at is not None and len(context) < 8:
            context.append(type(at).__name__)
            at = at.__context__
        end = ("raised", *context)
    return end, world.notes


@dataclass
class Result:
    pairs: int = 0
    proved: int = 0
    differ: int = 0
    """The number of pairs that behave differently in some world."""
    unproved: list[str] = field(default_factory=list)
    """Texts of the pairs that are equal by construction, but not proved."""
    wrong: list[str] = field(default_factory=list)
    """Texts of the pairs that are proved, but behave differently."""
    kinds: collections.Counter[str] = field(default_factory=collections.Counter)
    """The number of proved pairs of each kind."""


def variants(source: str, code: types.CodeType, rng: random.Random) -> list[tuple[str, types.CodeType | None]]:
    found: list[tuple[str, types.CodeType | None]] = []
    for form in ("readable", "plain", "exact"):
        found.append((form, decompilation._decompilation(code, None, form, NOTHING).code))
    tree = ast.parse(source)
    found.append(("unparsed", compiled(ast.unparse(tree))))
    made = [(mutants.source_mutant, it) for it in mutants.SOURCE] + [(rewritten, it) for it in REWRITES]
    for make, mutate in made:
        try:
            found.append((mutate.__name__, make(tree.body[0], mutate, rng)))
        except (SyntaxError, ValueError):
            continue
    return [(kind, other) for kind, other in found if other is not None]


def check(source: str, rng: random.Random, result: Result, worlds: int) -> None:
    try:
        code = compiled(source)
    except SyntaxError:
        return
    number = rng.getrandbits(48)
    expected = [outcome(code, number + i) for i in range(worlds)]
    for kind, other in variants(source, code, rng):
        result.pairs += 1
        proved = bool(_core.prove(code, other, lifetimes=False))
        result.proved += proved
        result.kinds[kind] += proved
        if not proved and kind in EQUAL:
            result.unproved.append(f"{kind} {_core.prove(code, other, lifetimes=False)} of\n{source}")
        same = all(outcome(other, number + i) == expected[i] for i in range(worlds))
        result.differ += not same
        if (
            proved
            and not same
            and all(outcome(code, number + i) == expected[i] for i in range(worlds) for _ in ".....")
        ):
            result.wrong.append(f"{kind} of\n{source}")


def run(examples: int, number: int, worlds: int = 4) -> Result:
    """Checks `examples` functions that hypothesis generates from a seed. Hypothesis reduces the first function with a
    wrong pair; `run` then raises an AssertionError with this pair."""
    result = Result()

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(st.randoms(use_true_random=False), st.integers(0, 2**32))
    def one(rng: random.Random, other: int) -> None:
        before = len(result.wrong)
        check(Writer(rng).function(), random.Random(other), result, worlds)
        assert len(result.wrong) == before, result.wrong[-1]

    one()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=100000, help="the number of pairs of functions (default: 100000)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first functions (default: 1)")
    parser.add_argument(
        "--worlds", type=int, default=4, help="the number of worlds in which each pair is run (default: 4)"
    )
    parser.add_argument("--progress", action="store_true", help="also print the counts while the tool runs")
    parser.add_argument(
        "--show", type=int, default=0, help="print this number of pairs that are equal but not proved (default: 0)"
    )
    options = parser.parse_args()
    total = Result()
    number = options.seed
    while total.pairs < options.pairs:
        part = run(100, number, options.worlds)
        total.pairs += part.pairs
        total.proved += part.proved
        total.differ += part.differ
        total.unproved += part.unproved
        number += 1
        if options.progress:
            print(total.pairs, total.proved, total.differ, len(total.unproved), file=sys.stderr, flush=True)
    print(
        f"{sys.version.split()[0]}: {total.pairs} pairs, {total.proved} proved, {total.differ} seen to differ, none of them "
        f"proved; {len(total.unproved)} equal by their making and not proved"
    )
    for text in total.unproved[: options.show]:
        print("---", text)


if __name__ == "__main__":
    main()
