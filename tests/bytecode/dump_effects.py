"""Runs under any CPython from 3.8 on: writes code with each opcode, and the results of `dis.stack_effect` for it.

    pythonX.Y dump_effects.py FOLDER

FOLDER/effects.pyc is a module with one code object for each case, named OPCODE/ARGUMENT. FOLDER/effects.json has the
name of each case, the stack effect falling through and the stack effect jumping. Cases for which `dis` raises an error
are left out.
"""

import dis
import importlib.util
import json
import marshal
import opcode
import sys

# Opcodes without a case: a code object contains none of them, except EXTENDED_ARG.
INTERNAL = {
    "CACHE", "RESERVED", "EXTENDED_ARG", "ENTER_EXECUTOR", "EXIT_INIT_CHECK", "INTERPRETER_EXIT", "TRACE_RECORD",
}  # fmt: skip
NAMES = tuple("n%d" % i for i in range(64))
LOCALS = tuple("v%d" % i for i in range(64))
CELLS = tuple("c%d" % i for i in range(16))
PADDING = 40  # the number of instructions before and after the tested one


def function():
    pass


def caches(number, name):
    entries = getattr(opcode, "_inline_cache_entries", None)
    if entries is None:
        return 0
    return entries.get(name, 0) if isinstance(entries, dict) or hasattr(entries, "get") else entries[number]


def arguments(number, name):
    if number in dis.hasjabs:
        return [4]
    if number in dis.hasjrel:
        return [20] if "BACKWARD" in name else [4]
    if number in dis.hasfree or name == "LOAD_DEREF":
        return [0, 3, 15] if sys.version_info < (3, 11) else [64, 70]
    takes_none = number not in dis.hasarg if hasattr(dis, "hasarg") else number < dis.HAVE_ARGUMENT
    return [0] if takes_none else [0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 15, 16, 26, 47, 48]


def case(number, name, arg):
    def nops(count):
        return bytes([opcode.opmap["NOP"], 0]) * count

    body = bytes([number, arg]) + bytes(2 * caches(number, name))
    end = bytes([opcode.opmap["LOAD_CONST"], 0, opcode.opmap["RETURN_VALUE"], 0])
    return function.__code__.replace(
        co_code=nops(PADDING) + body + nops(PADDING) + end,
        co_consts=(("keyword",),) * 64,
        co_names=NAMES,
        co_varnames=LOCALS,
        co_cellvars=CELLS,
        co_nlocals=len(LOCALS),
        co_stacksize=1000,
        co_name="%s/%d" % (name, arg),
    )


def cases():
    for name, number in sorted(opcode.opmap.items()):
        if number > 255 or name in INTERNAL or name.startswith("INSTRUMENTED_"):
            continue
        for arg in arguments(number, name):
            try:
                given = arg if arguments(number, name) != [0] else None
                effects = [dis.stack_effect(number, given, jump=jump) for jump in (False, True)]
            except ValueError:
                continue
            yield case(number, name, arg), effects


def main(folder):
    codes, rows = [], []
    for code, effects in cases():
        codes.append(code)
        rows.append([code.co_name] + effects)
    module = function.__code__.replace(co_consts=(None,) + tuple(codes))
    with open(folder + "/effects.pyc", "wb") as file:
        file.write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(module))
    with open(folder + "/effects.json", "w") as file:
        json.dump(rows, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
