"""Random wrong edits of cache entries, for test_wrong_edits.py: python wrong_edits.py SEED FIRST LAST

Each edit is made, registered if possible, and called. Each edit has to end in a Python exception of the kinds that
`edit` and `register` document, or in a guard that fails with a reason; afterwards the function must return the same as
before. Prints two lines of JSON for each edit: its number before it begins, and its outcome afterwards.
"""

from __future__ import annotations

import ast
import json
import random
import sys
import types
import warnings

import depyf
import torch
from toolkit_helpers import cases

EXPECTED = (ValueError, SyntaxError, NameError, TypeError, OSError)


def signature(rng, entry):
    """Returns the source with other arguments."""
    code = entry.target.code
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    tree = ast.parse(entry.source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args]
            if [one.arg for one in (*every, *arguments.kwonlyargs)] == names and node.name != "outer":
                change_arguments(rng, arguments)
                break
    else:
        raise AssertionError(entry.source)
    return {"source": ast.unparse(ast.fix_missing_locations(tree))}


def change_arguments(rng, arguments):
    kind = rng.randrange(7)
    if kind == 0 and arguments.args:
        arguments.args.pop()
        arguments.defaults = []
    elif kind == 1 and arguments.args:
        arguments.args[0].arg += "_renamed"
    elif kind == 2 and len(arguments.args) > 1:
        arguments.args.reverse()
    elif kind == 3 and arguments.args:
        arguments.kwonlyargs.append(arguments.args.pop())
        arguments.kw_defaults.append(None)
        arguments.defaults = []
    elif kind == 4 and arguments.args:
        arguments.posonlyargs.append(arguments.args.pop(0))
    elif kind == 5:
        arguments.vararg = None if arguments.vararg else ast.arg("one_more")
    elif kind == 6:
        arguments.kwarg = None if arguments.kwarg else ast.arg("every")
    else:
        arguments.kwonlyargs.append(ast.arg("one_more"))
        arguments.kw_defaults.append(None)


def other_variables(rng, entry):
    """Returns a code object with one free variable too many or too few, another cell variable, or other counts."""
    code = entry.code
    outer = 3

    def closes_over(x):
        return outer, x

    def has_cell(x):
        return (lambda: x), x

    choices = [
        lambda: closes_over.__code__,
        lambda: has_cell.__code__,
        lambda: code.replace(co_freevars=(*code.co_freevars, "one_more")),
        lambda: code.replace(co_freevars=code.co_freevars[:-1] if code.co_freevars else ("a_free_one",)),
        lambda: code.replace(co_freevars=tuple(f"{name}_other" for name in code.co_freevars) or ("other",)),
        lambda: code.replace(co_cellvars=(*code.co_cellvars, "one_more")),
        lambda: code.replace(co_cellvars=code.co_cellvars[:-1] if code.co_cellvars else ("wrong_cell",)),
        lambda: code.replace(co_varnames=code.co_varnames[:1], co_nlocals=1),
        lambda: code.replace(co_flags=code.co_flags ^ rng.choice([0x4, 0x8, 0x20, 0x80, 0x100, 0x200])),
        lambda: code.replace(co_flags=code.co_flags & ~rng.choice([1, 2])),
        lambda: code.replace(co_argcount=max(0, code.co_argcount + rng.choice([-1, 1]))),
        lambda: code.replace(co_kwonlyargcount=code.co_kwonlyargcount + 1),
        lambda: code.replace(co_posonlyargcount=0 if code.co_posonlyargcount else code.co_argcount),
        lambda: code.replace(co_stacksize=0),
        lambda: code.replace(co_consts=()),
        lambda: code.replace(co_names=()),
        lambda: code.replace(co_code=code.co_code[: -2 * rng.randrange(1, 5)]),
        lambda: compile("x = 1", "<module>", "exec"),
        lambda: rng.choice([None, 3, "code", closes_over, object()]),
    ]
    try:
        made = rng.choice(choices)()
    except (SystemError, ValueError):  # CPython itself refuses this code object
        made = closes_over.__code__
    made = 0 if made is None else made
    if isinstance(made, types.CodeType) and made == code:
        made = closes_over.__code__
    return {"code": made}


def syntax(rng, entry):
    """Returns the source with a character removed, doubled or inserted, so that it no longer compiles."""
    source = entry.source
    while True:
        at = rng.randrange(len(source))
        text = source[:at] + rng.choice(["", "(", "]", ":", "'", "\n ", "\0", "$", "def", "}"]) + source[at + 1 :]
        try:
            compile(text, "<wrong>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return {"source": text}


def unknown(rng, entry):
    """Returns the source with an undefined name."""
    lines = entry.source.splitlines()
    body = [i for i, line in enumerate(lines) if line.startswith("    ") and not line.startswith("     ")]
    name = f"undefined_{rng.randrange(1000)}"
    lines.insert(rng.choice(body), f"    {rng.choice([name, name + '.attribute', name + '(1)', '[' + name + ']'])}")
    return {"source": "\n".join(lines)}


def guard_name(rng, entry):
    name = f"missing_{rng.randrange(1000)}"
    return rng.choice(
        [
            {"add": f"L[{name!r}] > 0"},
            {"add": f"G[{name!r}] is None"},
            {"add": f"{name} == 1"},
            {"add": f"L['x'].{name}" if "x" in entry.target.code.co_varnames else f"L.{name}"},
            {"drop": f"L[{name!r}]"},
            {"drop": len(entry.guards) + rng.randrange(9)},
            {"replace": {f"L[{name!r}]": "True"}},
            {"replace": [(0, f"L[{name!r}]")]},
            {"relax": {f"L[{name!r}]": 0}},
            {"relax": {entry.guards[-1].source or "L['x']": 9}},
            {"relax": f"dimension of {name}"},
        ]
    )


def guard_raises(rng, entry):
    error = rng.choice([ZeroDivisionError, KeyError, RuntimeError, StopIteration, RecursionError, AssertionError])

    def raises(L):
        raise error("on purpose")

    def deep(L):
        return deep(L)

    tensor_in_two_minds = "torch.ones(2) > 0"
    return {"add": rng.choice([raises, deep, "1 / 0", "[][1]", "int('x')", tensor_in_two_minds, lambda: True])}


def guard_false(rng, entry):
    return {
        "add": rng.choice(["False", "None", "0", "[]", "L is None", "G is L", lambda L: False, lambda L: len(L) > 99])
    }


def graph(rng, entry):
    return {"graph": rng.choice([3, "graph", {"__compiled_fn_99": len}, lambda: 1, object(), {1: 2}])}


KINDS = [signature, other_variables, other_variables, syntax, unknown, guard_name, guard_raises, guard_false, graph]


def same(one, other):
    return torch.equal(one, other)


def main(seed, first, last):
    warnings.simplefilter("ignore")
    made = cases("eager")
    functions = []
    for name, (call, asked) in made.items():
        want = call()
        entry = next(one for one in depyf.cache_entries(asked) if one.kind == "ordinary")
        functions.append((name, call, want, entry))
    for number in range(first, last):
        print(json.dumps({"begin": number}), flush=True)
        rng = random.Random(seed * 1_000_003 + number)
        name, call, want, entry = rng.choice(functions)
        kind = rng.choice(KINDS)
        outcome = {"end": number, "function": name, "kind": kind.__name__}
        change = None
        try:
            change = kind(rng, entry)
            edited = entry.edit(**change)
            with edited.register():
                outcome["refused"] = same(call(), want)
                failing = [guard for guard in edited.guards if guard.kind in ("ADDED", "REPLACED")]
                report = depyf.dispatch(entry.target, *arguments(entry)) if name in PLAIN else None
                errors = [getattr(guard, "error", None) for guard in failing]
                outcome["reason"] = str(report) if report else "; ".join(map(str, errors)) or "guard"
            outcome["result"] = "guard fails" if outcome["refused"] and failing else "ran"
        except EXPECTED as error:
            outcome["result"], outcome["reason"] = "exception", f"{type(error).__name__}: {error}"
        except Exception as error:
            outcome["result"], outcome["reason"] = "unexpected", f"{type(error).__name__}: {error}"
        outcome["same afterwards"] = same(call(), want)
        outcome["left"] = len(depyf.registered())
        print(json.dumps(outcome), flush=True)


PLAIN = {"function": 2, "module": 1, "lambda": 1, "cell variable": 1}


def arguments(entry):
    x = torch.tensor([1.0, 2.0, 3.0])
    return (x, x + 1) if entry.target.code.co_varnames[:2] == ("a", "b") else (x,)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
