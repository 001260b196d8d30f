#!/usr/bin/env python3
"""Writes the opcode table of the running CPython as rows for src/decode/tables/py3XX.inc.

    python3.11 tools/gen_opcodes.py > src/decode/tables/py311.inc
    python3 tools/gen_opcodes.py --names src/decode/tables/py3*.inc > src/decode/tables/names.inc

A row is OPCODE(byte, name, cache units, kind of argument). The table has only opcodes that co_code can contain, and no
pseudo, instrumented or specialised ones. The second command writes the names of all versions, once each: NAME(name).
"""

import dis
import opcode
import sys


def caches(name):
    if sys.version_info >= (3, 13):
        return opcode._inline_cache_entries.get(name, 0)
    if sys.version_info >= (3, 11):
        return opcode._inline_cache_entries[opcode.opmap[name]]
    return 0


def has_argument(number):
    if hasattr(dis, "hasarg"):
        return number in dis.hasarg
    return number >= dis.HAVE_ARGUMENT


def kind(name, number):
    if number in dis.hasconst:
        return "constant"
    if number in dis.hasname:
        return "name"
    if number in dis.haslocal:
        return "local"
    if number in dis.hasfree:
        return "free"
    if number in dis.hascompare:
        return "compare"
    if number in dis.hasjrel:
        return "jump_backward" if "BACKWARD" in name else "jump_forward"
    if number in dis.hasjabs:
        return "jump_absolute"
    return "number" if has_argument(number) else "none"


def is_real(name, number):
    return number < 256 and not name.startswith("INSTRUMENTED_") and not name.startswith("<")


def table():
    yield (
        "// Made by tools/gen_opcodes.py from CPython %d.%d. OPCODE(byte, name, cache units, argument)"
        % sys.version_info[:2]
    )
    # opmap of 3.15 has no specialised instructions, and opmap of 3.12 has pseudo instructions, with numbers from 256
    # on.
    rows = sorted((number, name) for name, number in opcode.opmap.items() if is_real(name, number))
    for number, name in rows:
        yield "OPCODE(%d, %s, %d, %s)" % (number, name, caches(name), kind(name, number))


def names(paths):
    found = set()
    for path in paths:
        with open(path) as lines:
            found.update(line.split(", ")[1] for line in lines if line.startswith("OPCODE("))
    yield "// Made by tools/gen_opcodes.py --names from the tables beside it."
    for name in sorted(found):
        yield "NAME(%s)" % name


if __name__ == "__main__":
    rows = names(sys.argv[2:]) if sys.argv[1:2] == ["--names"] else table()
    sys.stdout.write("\n".join(rows) + "\n")
