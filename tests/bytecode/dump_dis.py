"""Runs under any CPython from 3.8 on: compiles modules, and writes their instructions as `dis` returns them.

    pythonX.Y dump_dis.py FOLDER SOURCE...

The output for source N is FOLDER/N.pyc, and FOLDER/N.json with a list of code objects in depth-first order, each as
(name, co_names, names of the slots of locals and cells, list of instructions); an instruction is (offset of its first
EXTENDED_ARG, name, argument, kind of argument, value of the argument, line, stack effect falling through, stack effect
jumping).
"""

import dis
import importlib.util
import json
import marshal
import sys
import types


def kind(opcode):
    for name, members in [
        ("const", dis.hasconst),
        ("name", dis.hasname),
        ("local", dis.haslocal),
        ("free", dis.hasfree),
        ("jump", dis.hasjrel),
        ("jump", dis.hasjabs),
    ]:
        if opcode in members:
            return name
    return ""


def effect(instruction, jump):
    try:
        return dis.stack_effect(instruction.opcode, instruction.arg, jump=jump)
    except ValueError:
        return None


def lines_of(code):
    """Returns the line of each code unit; None for units without a line."""
    lines = [None] * (len(code.co_code) // 2)
    if hasattr(code, "co_lines"):
        for start, end, line in code.co_lines():
            lines[start // 2 : end // 2] = [line] * (end // 2 - start // 2)
    else:
        starts = list(dis.findlinestarts(code)) + [(len(code.co_code), None)]
        for (start, line), (end, _) in zip(starts, starts[1:]):
            lines[start // 2 : end // 2] = [line] * (end // 2 - start // 2)
    return lines


def slots(code):
    """Returns the names of the variables in depyf's order: locals, cells that are no locals (up to 3.10: cells that are
    no arguments), free variables."""
    merged = code.co_varnames
    if sys.version_info < (3, 11):
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        merged = merged[:count]
    cells = tuple(name for name in code.co_cellvars if name not in merged)
    return code.co_varnames + cells + code.co_freevars


def instructions(code):
    start = None
    lines = lines_of(code)
    for one in dis.get_instructions(code):
        if start is None:
            start = one.offset
        if one.opname in ("EXTENDED_ARG", "CACHE"):
            continue
        what = kind(one.opcode)
        value = one.argval if what in ("name", "local", "free", "jump") else None
        yield (start, one.opname, one.arg, what, value, lines[one.offset // 2], effect(one, False), effect(one, True))
        start = None


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def main(folder, *sources):
    for number, source in enumerate(sources):
        with open(source, "rb") as file:
            try:
                code = compile(file.read(), source, "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                continue
        with open("%s/%d.pyc" % (folder, number), "wb") as file:
            file.write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
        with open("%s/%d.json" % (folder, number), "w") as file:
            rows = [(one.co_name, one.co_names, slots(one), list(instructions(one))) for one in codes(code)]
            json.dump(rows, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
