#!/usr/bin/env python3
"""Tests that the prover refuses single mutants of the standard library's functions, each of which does something else.

    mutants.py --count 10000 --seed 1

Half of the mutants are made in the source (an operator, a test, the order of arguments, a constant, a name, a statement
dropped or moved, a handler), half in the bytecode (the same kinds, and jumps, locals, the exception table). Prints the
share of refused mutants by kind, and each accepted mutant.
"""

from __future__ import annotations

import argparse
import ast
import collections
import copy
import dis
import os
import random
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "roundtrip"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import compare  # noqa: E402
from depyf import _core  # noqa: E402

warnings.simplefilter("ignore")
sys.setrecursionlimit(5000)


# Mutations of the source: each of the functions below changes one node of a function's tree, and returns True if it
# changed the node.


def operator(node: ast.AST, rng: random.Random) -> bool:
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        node.op = rng.choice([op for op in (ast.Add(), ast.Sub(), ast.Mult()) if type(op) is not type(node.op)])
    elif isinstance(node, ast.Compare):
        ops = [ast.Eq(), ast.Lt(), ast.GtE(), ast.In(), ast.Is()]
        node.ops[0] = rng.choice([op for op in ops if type(op) is not type(node.ops[0])])
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        node.op = ast.Invert() if isinstance(node.op, ast.USub) else ast.USub()
    else:
        return False
    return True


def test(node: ast.AST, rng: random.Random) -> bool:
    if not isinstance(node, (ast.If, ast.While, ast.IfExp)) or isinstance(node.test, ast.Constant):
        return False
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return True


def boolean(node: ast.AST, rng: random.Random) -> bool:
    if not isinstance(node, ast.BoolOp):
        return False
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return True


def arguments(node: ast.AST, rng: random.Random) -> bool:
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return False
    i = rng.randrange(len(node.args) - 1)
    if ast.dump(node.args[i]) == ast.dump(node.args[i + 1]):
        return False
    node.args[i], node.args[i + 1] = node.args[i + 1], node.args[i]
    return True


def constant(node: ast.AST, rng: random.Random) -> bool:
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
        node.value = ast.Name("other", ast.Load())  # another constant would have no effect if the local is unused
        return True
    if not isinstance(node, ast.Constant):
        return False
    value = node.value
    if isinstance(value, bool) or value is None or value is ...:
        node.value = 1 if value is True else 0 if value is False else False
    elif isinstance(value, (int, float, complex)):
        node.value = value + 1 if rng.random() < 0.5 else float(value) if isinstance(value, int) else 7
    else:
        node.value = value + value[:0] + (b"x" if isinstance(value, bytes) else "x")
    return True


def name(node: ast.AST, rng: random.Random) -> bool:
    if isinstance(node, ast.Attribute):
        node.attr += "_other"
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        node.id += "_other"
    elif isinstance(node, ast.keyword) and node.arg:
        node.arg += "_other"
    else:
        return False
    return True


def has_effect(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Return, ast.Raise, ast.Delete, ast.Import, ast.ImportFrom, ast.Assert)) or any(
        isinstance(it, (ast.Call, ast.Attribute, ast.Subscript, ast.Await, ast.Yield, ast.YieldFrom))
        for it in ast.walk(node)
    )


def drop(node: ast.AST, rng: random.Random) -> bool:
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return False
    places = [i for i, it in enumerate(body) if isinstance(it, ast.stmt) and has_effect(it)]
    if not places:
        return False
    body[rng.choice(places)] = ast.Pass()
    return True


def move(node: ast.AST, rng: random.Random) -> bool:
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return False
    places = [
        i
        for i in range(len(body) - 1)
        if all(isinstance(it, (ast.Expr, ast.Assign, ast.AugAssign)) and has_effect(it) for it in body[i : i + 2])
        and ast.dump(body[i]) != ast.dump(body[i + 1])
    ]
    if not places:
        return False
    i = rng.choice(places)
    body[i], body[i + 1] = body[i + 1], body[i]
    return True


def handler(node: ast.AST, rng: random.Random) -> bool:
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        node.type = ast.Name("Other", ast.Load())
    elif isinstance(node, ast.Try) and node.finalbody and any(map(has_effect, node.finalbody)):
        node.finalbody = [ast.Pass()]
    elif isinstance(node, ast.With):
        node.items[0].context_expr = ast.Call(ast.Name("other", ast.Load()), [node.items[0].context_expr], [])
    else:
        return False
    return True


SOURCE = [operator, test, boolean, arguments, constant, name, drop, move, handler]


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    found = [it for it in tree.body if isinstance(it, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for it in tree.body:
        if isinstance(it, ast.ClassDef):
            found += [sub for sub in it.body if isinstance(sub, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return found


def compiled(function: ast.AST) -> types.CodeType:
    module = compile(ast.fix_missing_locations(ast.Module([function], [])), "m", "exec", dont_inherit=True)
    return next(it for it in reversed(module.co_consts) if isinstance(it, types.CodeType))


def source_mutant(function: ast.AST, mutate: Callable[[ast.AST, random.Random], bool], rng: random.Random):
    mutant = copy.deepcopy(function)
    # Constants and lambdas in `unseen` are not mutated, because their values may be unused: they are assigned to a
    # name, or belong to a lambda that is an expression statement.
    unseen = {id(it.value) for it in ast.walk(mutant) if isinstance(it, (ast.Assign, ast.AnnAssign))}
    unseen |= {
        id(sub)
        for it in ast.walk(mutant)
        if isinstance(it, ast.Expr) and isinstance(it.value, ast.Lambda)
        for sub in ast.walk(it)
    }
    nodes = [it for statement in mutant.body for it in ast.walk(statement)]
    nodes = [it for it in nodes if not (id(it) in unseen and isinstance(it, (ast.Constant, ast.Lambda)))]
    if ast.get_docstring(mutant, clean=False) is not None:
        nodes = nodes[2:]
    rng.shuffle(nodes)
    for node in nodes:
        if mutate(node, rng):
            return compiled(mutant)
    return None


# Mutations of the bytecode.

SWAPS = {
    "POP_JUMP_FORWARD_IF_TRUE": "POP_JUMP_FORWARD_IF_FALSE",
    "POP_JUMP_IF_TRUE": "POP_JUMP_IF_FALSE",
    "POP_JUMP_BACKWARD_IF_TRUE": "POP_JUMP_BACKWARD_IF_FALSE",
    "POP_JUMP_FORWARD_IF_NONE": "POP_JUMP_FORWARD_IF_NOT_NONE",
    "POP_JUMP_IF_NONE": "POP_JUMP_IF_NOT_NONE",
    "JUMP_IF_TRUE_OR_POP": "JUMP_IF_FALSE_OR_POP",
    "IS_OP": "IS_OP",
    "CONTAINS_OP": "CONTAINS_OP",
}
SWAPS.update({to: at for at, to in SWAPS.items()})


# Operations that raise no exception; an exception table entry whose range contains only such operations has no effect.
SILENT = {"POP_TOP", "NOP", "COPY", "SWAP", "LOAD_CONST", "LOAD_FAST", "STORE_FAST", "DELETE_FAST", "RESUME"}
SILENT |= {"POP_EXCEPT", "PUSH_EXC_INFO"} | compare.JUMPS


def reachable_offsets(code: types.CodeType) -> set[int]:
    instructions = list(dis.get_instructions(code))
    index = {it.offset: i for i, it in enumerate(instructions)}
    table = dis._parse_exception_table(code) if hasattr(dis, "_parse_exception_table") else []
    todo, seen = [0], set()
    while todo:
        i = todo.pop()
        if i in seen or i >= len(instructions):
            continue
        seen.add(i)
        it = instructions[i]
        if it.opcode in compare.HASJUMP:
            todo.append(index[it.argval])
        if it.opname not in compare.ENDS | compare.JUMPS | {"RETURN_CONST"}:
            todo.append(i + 1)
        if it.opname not in SILENT:
            todo += [index[entry.target] for entry in table if entry.start <= it.offset < entry.end]
    return {instructions[i].offset for i in seen}


def bytecode_mutants(code: types.CodeType) -> Iterator[tuple[str, Callable[[random.Random], types.CodeType]]]:
    raw = code.co_code
    names = code.co_names

    def put(offset: int, opcode: int, arg: int) -> types.CodeType:
        return code.replace(co_code=raw[:offset] + bytes([opcode, arg]) + raw[offset + 2 :])

    live = reachable_offsets(code)
    for it in dis.get_instructions(code):
        op, at = it.opname, it.offset
        if at not in live or it.arg is not None and it.arg > 255:
            continue
        # a `CONTAINS_OP; POP_TOP` discards the result
        if op in SWAPS and not (op == "CONTAINS_OP" and raw[at + 2] == dis.opmap["POP_TOP"]):
            arg = 1 - it.arg if op in ("IS_OP", "CONTAINS_OP") else raw[at + 1]
            yield "branch", lambda rng, at=at, op=op, arg=arg: put(at, dis.opmap[SWAPS[op]], arg)
        elif op in ("BINARY_OP", "COMPARE_OP"):
            shift = 4 if op == "COMPARE_OP" and sys.version_info >= (3, 12) else 0
            shift += op == "COMPARE_OP" and sys.version_info >= (3, 13)
            low = it.arg & ((1 << shift) - 1)
            yield (
                "operator",
                lambda rng, it=it, shift=shift, low=low: put(
                    it.offset, it.opcode, ((it.arg >> shift) + 1) % 6 << shift | low
                ),
            )
        elif op == "LOAD_CONST" and len(code.co_consts) > 1 and raw[at + 2] != dis.opmap["STORE_FAST"]:
            others = [
                i
                for i, value in enumerate(code.co_consts[:256])
                if compare.const_key(value) != compare.const_key(it.argval)
            ]
            if others:
                yield "constant", lambda rng, it=it, others=others: put(it.offset, it.opcode, rng.choice(others))
        elif it.opcode in dis.hasname and len(names) > 1:
            _, _, mask = compare.FLAG_BITS.get(op, (0, 0, 0))
            bits = {0: 0, 1: 1, 3: 2}[mask] if sys.version_info >= compare.FLAG_BITS.get(op, (9, 9))[:2] else 0
            index = it.arg >> bits
            others = [i for i in range(min(len(names), 256 >> bits)) if i != index]
            if others:
                yield (
                    "name",
                    lambda rng, it=it, others=others, bits=bits: put(
                        it.offset, it.opcode, rng.choice(others) << bits | it.arg & ((1 << bits) - 1)
                    ),
                )
        elif op == "SWAP":
            yield "order", lambda rng, it=it: put(it.offset, dis.opmap["NOP"], 0)
        elif op in ("POP_EXCEPT", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR"):
            yield "dropped", lambda rng, it=it: put(it.offset, dis.opmap["NOP"], 0)
        elif op in ("STORE_ATTR", "STORE_GLOBAL", "STORE_NAME", "STORE_DEREF") and sys.version_info[:2] == (3, 11):
            pop, nop = bytes([dis.opmap["POP_TOP"], 0]), bytes([dis.opmap["NOP"], 0])
            body = pop + pop + nop * 3 if op == "STORE_ATTR" else pop  # NOPs fill the inline caches of STORE_ATTR
            yield (
                "dropped",
                lambda rng, it=it, body=body: code.replace(
                    co_code=raw[: it.offset] + body + raw[it.offset + len(body) :]
                ),
            )
    table = getattr(code, "co_exceptiontable", b"")
    if table:
        entries = dis._parse_exception_table(code)
        for i, entry in enumerate(entries):
            here = [
                it for it in dis.get_instructions(code) if entry.start <= it.offset < entry.end and it.offset in live
            ]
            if all(it.opname in SILENT for it in here):
                continue
            yield (
                "exception table",
                lambda rng, i=i: code.replace(co_exceptiontable=encode(entries[:i] + entries[i + 1 :])),
            )


def encode(entries) -> bytes:
    out = bytearray()
    for entry in entries:
        values = [entry.start // 2, (entry.end - entry.start) // 2, entry.target // 2, entry.depth << 1 | entry.lasti]
        for number, value in enumerate(values):
            digits = [value & 63]
            while value := value >> 6:
                digits.append(value & 63)
            digits.reverse()
            item = [it | 64 for it in digits[:-1]] + [digits[-1]]
            if number == 0:
                item[0] |= 128
            out += bytes(item)
    return bytes(out)


Survivor = tuple[str, str, types.CodeType, types.CodeType]  # kind of mutation, name of the file, original, mutant


def attempt(count: int, seed: int) -> tuple[collections.Counter[str], list[Survivor]]:
    """Makes `count` mutants. Returns (the number of mutants by kind, the mutants that the prover accepts)."""
    rng = random.Random(seed)
    library = Path(os.__file__).parent
    files = (
        sorted(it for it in library.glob("*.py"))
        + sorted(library.glob("asyncio/*.py"))
        + sorted(library.glob("test/test_[a-m]*.py"))
    )
    # Most mutants of test_exception_variations.py have no effect: its locals are never read, and its handlers guard
    # code that cannot raise.
    files = [it for it in files if it.name != "test_exception_variations.py"]
    made: collections.Counter[str] = collections.Counter()
    survivors: list[Survivor] = []
    while sum(made.values()) < count:
        path = rng.choice(files)
        try:
            found = functions(ast.parse(path.read_bytes()))
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        for function in rng.sample(found, min(len(found), 8)):
            function.decorator_list = []
            original = compiled(function)
            mutants = []
            for mutate in SOURCE:
                try:
                    mutants.append(("source: " + mutate.__name__, source_mutant(function, mutate, rng)))
                except (SyntaxError, ValueError):
                    continue
            pool = list(bytecode_mutants(original))
            mutants += [("bytecode: " + kind, make(rng)) for kind, make in rng.sample(pool, min(len(pool), 9))]
            for kind, mutant in mutants:
                if mutant is None:
                    continue
                compare.GRAPHS.clear()
                if all(row["equal"] for row in compare.compare_trees(original, mutant)):
                    continue  # the mutant compiles to the same code as the original
                made[kind] += 1
                if _core.prove(original, mutant, lifetimes=False):
                    survivors.append((kind, path.name, original, mutant))
    return made, survivors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10000, help="the number of mutants (default: 10000)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the mutants (default: 1)")
    parser.add_argument("--show", type=int, default=40, help="print this number of survivors (default: 40)")
    parser.add_argument("--kind", help="print only survivors of this kind")
    options = parser.parse_args()
    made, survivors = attempt(options.count, options.seed)
    refused = made - collections.Counter(kind for kind, *_ in survivors)
    for kind in sorted(made):
        print(f"{kind:30} {refused[kind]:6} of {made[kind]:6}")
    print(
        f"{sys.version.split()[0]}: refused {sum(refused.values())} of {sum(made.values())}: "
        f"{100 * sum(refused.values()) / sum(made.values()):.3f} %"
    )
    if options.kind:
        survivors = [it for it in survivors if it[0] == options.kind]
    for kind, file, original, mutant in survivors[: options.show]:
        print("---", kind, file, original.co_name)
        differences(original, mutant)


def differences(original: types.CodeType, mutant: types.CodeType) -> None:
    def lines(code: types.CodeType) -> list[str]:
        own = [f"{it.opname} {it.argrepr}" for it in dis.get_instructions(code)]
        return own + [str(it)[:60] for it in getattr(dis, "_parse_exception_table", lambda _: [])(code)]

    import difflib

    for line in list(difflib.unified_diff(lines(original), lines(mutant), lineterm="", n=4))[:30]:
        print("   ", line)


if __name__ == "__main__":
    main()
