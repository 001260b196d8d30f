"""Prints .pyc files as `depyf-decompile --dump-load` does, by means of marshal.loads; runs in the interpreter under test.

PY dump_load.py compile OUT SOURCE...   compiles into the folder OUT, prints the paths of the .pyc files
PY dump_load.py dump PYC...
"""

import marshal
import os
import py_compile
import struct
import sys
import warnings

CODE = type((lambda: 0).__code__)


def quoted(text):
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    plain = lambda byte: 32 <= byte < 127 and byte not in b'"\\'
    return '"%s"' % "".join(chr(byte) if plain(byte) else "\\x%02x" % byte for byte in data)


def bits(value):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", value))


def integer(value):
    return hex(value) if abs(value) >= 1 << 4 * 3200 else str(value)  # longer integers are written in hexadecimal


def constant(value):
    kind = type(value)
    if value is None or value is Ellipsis or kind is bool:
        return repr(value)
    if kind is int:
        return "int " + integer(value)
    if kind is float:
        return "float " + bits(value)
    if kind is complex:
        return "complex %s %s" % (bits(value.real), bits(value.imag))
    if kind in (str, bytes):
        return "%s %s" % (kind.__name__, quoted(value))
    if kind is slice:
        value = (value.start, value.stop, value.step)
    if kind in (tuple, frozenset, slice):
        return "%s(%s)" % (kind.__name__, ", ".join(map(constant, value)))
    if kind is CODE:
        return "code " + quoted(qualname(value))
    return "opaque"


def qualname(code):
    return getattr(code, "co_qualname", code.co_name)


def lines(code):
    """Returns the line of each code unit before 3.11 (-1: none), computed as CPython's Objects/lnotab_notes.txt
    describes."""
    units = [-1] * (len(code.co_code) // 2)
    if hasattr(code, "co_lines"):
        for start, end, line in code.co_lines():
            for unit in range(start // 2, end // 2):
                units[unit] = -1 if line is None else line
        return units
    line, offset = code.co_firstlineno, 0
    changes = {}
    for advance, delta in zip(code.co_lnotab[::2], code.co_lnotab[1::2]):
        offset += advance
        line += delta - 256 if delta >= 128 else delta
        changes[offset] = line
    line = code.co_firstlineno
    for unit in range(len(units)):
        line = changes.get(2 * unit, line)
        units[unit] = line
    return units


def positions(code):
    if hasattr(code, "co_positions"):
        rows = [[-1 if field is None else field for field in row] for row in code.co_positions()]
    else:
        rows = [[line, line, -1, -1] for line in lines(code)]
    return "positions" + "".join(" %d:%d:%d:%d" % tuple(row) for row in rows)


def exceptions(code):
    if sys.version_info < (3, 11):
        return
    import dis

    for row in dis._parse_exception_table(code):
        yield "exception %d %d %d %d %d" % (row.start, row.end, row.target, row.depth, row.lasti)


def fields(code):
    yield "code " + quoted(qualname(code))
    yield "version %d.%d" % sys.version_info[:2]
    yield "name " + quoted(code.co_name)
    yield "filename " + quoted(code.co_filename)
    yield "arguments %d %d %d" % (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    yield "stacksize %d" % code.co_stacksize
    yield "firstlineno %d" % code.co_firstlineno
    yield "flags %x" % code.co_flags
    yield "bytecode " + code.co_code.hex()
    for value in code.co_consts:
        yield "constant " + constant(value)
    for what in ("names", "varnames", "cellvars", "freevars"):
        yield what + "".join(" " + quoted(name) for name in getattr(code, "co_" + what))
    yield positions(code)
    for row in exceptions(code):
        yield row
    for value in code.co_consts:
        if isinstance(value, CODE):
            for line in fields(value):
                yield line


def dump(paths):
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        if len(paths) > 1:
            print("# " + path)
        for line in fields(marshal.loads(data[16:])):
            print(line)


def compile_all(out, sources):
    warnings.simplefilter("ignore")
    for number, source in enumerate(sources):
        pyc = os.path.join(out, "%d.pyc" % number)
        py_compile.compile(source, cfile=pyc, doraise=True, optimize=0)
        print(pyc)


if __name__ == "__main__":
    if sys.argv[1] == "compile":
        compile_all(sys.argv[2], sys.argv[3:])
    else:
        dump(sys.argv[2:])
