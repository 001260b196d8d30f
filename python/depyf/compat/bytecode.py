"""CPython's instruction format, as far as putting a constant in the place of a global name needs it.

An instruction is two bytes, opcode and argument; EXTENDED_ARG before it carries the argument's higher bytes; from
3.11 on, inline caches follow it and may be overwritten, as the interpreter starts from fresh ones. The length of code
never changes here, so that jumps, line table and exception table stay right. If an instruction has no room for its
replacement, ValueError is raised.
"""

from __future__ import annotations

import dis
import inspect
import marshal
import sys
import types
from collections.abc import Iterator

_NOP = dis.opmap["NOP"]
_EXTENDED_ARG = dis.opmap["EXTENDED_ARG"]
_LOAD_CONST = dis.opmap["LOAD_CONST"]
_PUSH_NULL = dis.opmap.get("PUSH_NULL")  # 3.11 and later
_CACHE = dis.opmap.get("CACHE")  # 3.11 and later; 3.13 gives it 0 as well
_NAME_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
# From 3.11 the lowest bit of LOAD_GLOBAL's argument asks for a NULL beside the value: below it up to 3.12, above it
# from 3.13.
_NULL_BIT = _PUSH_NULL is not None
_NULL_ABOVE = sys.version_info >= (3, 13)


def _instructions(raw: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yields (offset of the first byte with prefixes, offset after the caches, opcode, argument) of each
    instruction."""
    start = position = 0
    argument = 0
    while position < len(raw):
        opcode, low = raw[position], raw[position + 1]
        argument = argument << 8 | low
        position += 2
        if opcode == _EXTENDED_ARG:
            continue
        while _CACHE is not None and position < len(raw) and raw[position] == _CACHE:
            position += 2
        yield start, position, opcode, argument
        start, argument = position, 0


def _with_argument(opcode: int, argument: int) -> bytes:
    """Returns the instruction with as many EXTENDED_ARG before it as its argument needs."""
    encoded = bytearray()
    for shift in (24, 16, 8):
        if argument >> shift:
            encoded += bytes((_EXTENDED_ARG, argument >> shift & 255))
    return bytes(encoded) + bytes((opcode, argument & 255))


# All that running a code object depends on, beside its constants; `co_exceptiontable` from 3.11 on.
_RUNS = (
    "co_code",
    "co_exceptiontable",
    "co_flags",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
)
_EXACT = (type(None), bool, int, float, complex, str, bytes, type(...))
_MARSHAL_WITHOUT_REFERENCES = 2  # the same constants give the same bytes, whoever else refers to them


def is_same(code: types.CodeType, second: types.CodeType) -> bool:
    """True if two code objects have the same bytecode and run it on the same names and constants.

    Their own names, files, positions and stack sizes may differ. False also where a constant is anything but a number, a
    string, bytes or a tuple of these: frozensets that are equal may be in another order, and code holds other positions.
    """
    if any(getattr(code, field, None) != getattr(second, field, None) for field in _RUNS):
        return False
    if not (_is_exact(code.co_consts) and _is_exact(second.co_consts)):
        return False
    constants, others = (marshal.dumps(each.co_consts, _MARSHAL_WITHOUT_REFERENCES) for each in (code, second))
    return constants == others


def _is_exact(constant: object) -> bool:
    """True if marshal tells a constant from every other one."""
    return all(map(_is_exact, constant)) if type(constant) is tuple else type(constant) in _EXACT


def global_names(code: types.CodeType) -> set[str]:
    """Returns the global names that `code` itself reads, writes or deletes."""
    globals_used = set()
    for _, _, opcode, argument in _instructions(code.co_code):
        name = dis.opname[opcode]
        if name in ("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL"):
            globals_used.add(code.co_names[argument >> 1 if _NULL_BIT and name == "LOAD_GLOBAL" else argument])
    return globals_used


def assigned_names(code: types.CodeType) -> set[str]:
    """Returns the global names that `code` itself assigns, those of the body of a class or module included."""
    return {
        code.co_names[argument]
        for _, _, opcode, argument in _instructions(code.co_code)
        if dis.opname[opcode] in ("STORE_GLOBAL", "STORE_NAME", "IMPORT_NAME")
    }


def problem(code: types.CodeType) -> str | None:
    """Returns what is wrong with bytecode that CPython would run unasked; None if nothing was found.

    Checked are the bounds of all that instructions name, where jumps lead, and the depth of the stack. Of the values
    on the stack only their number is known, so code that uses a wrong value is not found here: it fails when it runs,
    as any code does.
    """
    raw = code.co_code
    if not raw or len(raw) % 2:
        return "its length is not that of instructions"
    try:
        instructions = list(dis.get_instructions(code))
    except Exception as error:  # an index out of the table that it is for
        return f"an instruction names what is not there ({type(error).__name__}: {error})"
    index_of_offset = {instruction.offset: i for i, instruction in enumerate(instructions)}
    for instruction in instructions:
        if instruction.opname.startswith("<"):
            return f"offset {instruction.offset}: {instruction.opcode} is no opcode"
    if code.co_flags & _SUSPENDS:
        return None  # what their frames begin with differs by version
    return _stack_problem(code, instructions, index_of_offset)


def _stack_problem(
    code: types.CodeType, instructions: list[dis.Instruction], index_of_offset: dict[int, int]
) -> str | None:
    todo = [(0, 0)]
    todo += [(index_of_offset[target], depth) for target, depth in _handlers(code) if target in index_of_offset]
    seen: dict[int, int] = {}
    while todo:
        index, depth = todo.pop()
        while True:
            if index >= len(instructions):
                return "control runs off its end"
            instruction = instructions[index]
            if seen.get(index, -1) >= depth:
                break
            seen[index] = depth
            if depth > code.co_stacksize:
                return f"offset {instruction.offset}: {depth} values on a stack of {code.co_stacksize}"
            argument = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
            is_jump = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
            try:
                if is_jump:
                    target = index_of_offset.get(instruction.argval)
                    if target is None:
                        return f"offset {instruction.offset}: {instruction.opname} leads to {instruction.argval}, where no instruction begins"
                    after = depth + dis.stack_effect(instruction.opcode, argument, jump=True)
                    todo.append((target, after))
                depth += dis.stack_effect(instruction.opcode, argument, jump=False)
            except ValueError:
                return None  # an instruction that only the interpreter itself writes: nothing more can be said
            if depth < 0:
                return f"offset {instruction.offset}: {instruction.opname} takes more than is on the stack"
            if instruction.opname in _LEAVES:
                break
            index += 1
    return None


_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_LEAVES = {
    *("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE"),
    *("JUMP_BACKWARD_NO_INTERRUPT", "INTERPRETER_EXIT"),
}


def _handlers(code: types.CodeType) -> Iterator[tuple[int, int]]:
    """Yields (offset, depth of the stack) of each handler in the exception table, which code has from 3.11 on."""
    table = iter(getattr(code, "co_exceptiontable", b""))

    def number() -> int:
        byte = next(table)
        value = byte & 63
        while byte & 64:
            byte = next(table)
            value = value << 6 | byte & 63
        return value

    try:
        while True:
            number(), number()
            target, depth = number() * 2, number()
            yield target, (depth >> 1) + 1 + (depth & 1)
    except (StopIteration, RuntimeError):
        return


def bind_names_to_constants(code: types.CodeType, values: dict[str, object]) -> types.CodeType:
    """`code` with each load of a global `name` in `values` replaced by a load of the object; nested code is not
    touched.

    The compiler cannot be given the objects: it takes only literals, and would fold what is computed from them.

    Raises:
        ValueError: a load has no room for the index of the constant.
    """
    wanted = [name for name in code.co_names if name in values]
    if not wanted:
        return code
    consts = list(code.co_consts)
    index = {}
    for name in wanted:
        index[name] = len(consts)
        consts.append(values[name])
    raw = bytearray(code.co_code)
    for start, end, opcode, argument in _instructions(bytes(raw)):
        if dis.opname[opcode] not in _NAME_LOADS:
            continue
        null = _NULL_BIT and dis.opname[opcode] == "LOAD_GLOBAL"
        name = code.co_names[argument >> 1 if null else argument]
        if name not in values:
            continue
        new = _with_argument(_LOAD_CONST, index[name])
        if null and argument & 1 and _PUSH_NULL is not None:
            push = bytes((_PUSH_NULL, 0))
            new = new + push if _NULL_ABOVE else push + new
        if len(new) > end - start:
            raise ValueError(f"{code.co_name} has too many constants to refer to {name}")
        raw[start:end] = new + bytes((_NOP, 0)) * ((end - start - len(new)) // 2)
    return code.replace(co_code=bytes(raw), co_consts=tuple(consts))


_CLOSURE_LOADS = ("LOAD_CLOSURE", "LOAD_FAST", "LOAD_FAST_BORROW")  # LOAD_CLOSURE up to 3.12
_CLOSURE_LOADS_OF_TWO = ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")  # 3.13 and later


def with_nested(code: types.CodeType, nested: dict[int, types.CodeType]) -> types.CodeType:
    """Returns `code` with other code objects among its constants, by index, each made a function with its own cells.

    A function's cells come in the order of its code's free variables, which may be another one than that of the code
    object whose place it takes: then the tuple of the cells is built in the other order. If the instructions have
    another shape they stay as they are, so the result has to be proved.
    """
    consts: list[object] = list(code.co_consts)
    raw = bytearray(code.co_code)
    instructions = list(_instructions(code.co_code))
    for position, (_, _, opcode, argument) in enumerate(instructions):
        if opcode != _LOAD_CONST or argument not in nested:
            continue
        old, new = code.co_consts[argument].co_freevars, nested[argument].co_freevars
        if old != new and sorted(old) == sorted(new):
            _reorder_cells(raw, instructions[:position], [old.index(name) for name in new])
    for index, own in nested.items():
        consts[index] = own
    return code.replace(co_code=bytes(raw), co_consts=tuple(consts))


def _reorder_cells(raw: bytearray, before: list[tuple[int, int, int, int]], order: list[int]) -> None:
    """Changes the loads of a tuple of cells so that its item `i` is what item `order[i]` was.

    Args:
        raw: the bytecode.
        before: the instructions up to the one that builds the tuple, which is the last.
        order: a permutation of the tuple's indices.
    """
    if not before or dis.opname[before[-1][2]] != "BUILD_TUPLE" or before[-1][3] != len(order):
        return
    loads: list[tuple[int, int, bool]] = []  # offset, argument, whether the instruction loads two
    count = 0
    for start, end, opcode, argument in reversed(before[:-1]):
        is_pair = dis.opname[opcode] in _CLOSURE_LOADS_OF_TWO
        if count >= len(order) or end - start != 2 or not (is_pair or dis.opname[opcode] in _CLOSURE_LOADS):
            break
        loads.insert(0, (start, argument, is_pair))
        count += 1 + is_pair
    if count != len(order):
        return
    slots = [
        slot for _, argument, is_pair in loads for slot in ((argument >> 4, argument & 15) if is_pair else (argument,))
    ]
    slots = [slots[index] for index in order]
    changed = {}
    for start, _, is_pair in loads:
        if is_pair and max(slots[:2]) > 15:
            return
        changed[start + 1] = slots.pop(0) << 4 | slots.pop(0) if is_pair else slots.pop(0)
    for offset, argument in changed.items():
        raw[offset] = argument


def iterates_over_argument(code: types.CodeType) -> types.CodeType:
    """`code`, of a comprehension written as a function, with its outermost loop over the first argument as it is.

    The argument of a comprehension is an iterator already; a `for` statement would ask it for one.
    """
    if not code.co_varnames:
        return code
    raw = bytearray(code.co_code)
    loaded = False
    for start, end, opcode, argument in _instructions(code.co_code):
        name = dis.opname[opcode]
        if loaded and name in ("GET_ITER", "GET_AITER"):
            raw[start:end] = bytes((_NOP, 0)) * ((end - start) // 2)
            return code.replace(co_code=bytes(raw))
        loaded = name in ("LOAD_FAST", "LOAD_FAST_BORROW") and argument == 0
    return code


# Of a line table of 3.11 and later, as CPython's `Objects/locations.md` has it: the bit that begins an entry, where its
# kind stands, and the kinds of entries on the same line as the one before and on the next.
_BEGINS, _KIND_AT, _KIND_BITS, _SAME_LINE, _NEXT_LINE = 0x80, 3, 0x78, 10, 11


def raised_by_one_line(code: types.CodeType) -> types.CodeType | None:
    """Returns `code` with all that stands below its first line moved up by one line, so that the second line's
    statements stand at the first. None if the line table of this Python has another format."""
    table = bytearray(code.co_linetable)
    if sys.version_info >= (3, 11):
        entries = (
            i for i, byte in enumerate(table) if byte & _BEGINS and (byte & _KIND_BITS) >> _KIND_AT == _NEXT_LINE
        )
        first = next(entries, None)
        if first is None:
            return None
        table[first] = table[first] & ~_KIND_BITS | _SAME_LINE << _KIND_AT
    elif table[1] == 1:  # pairs: bytes of code, lines further down
        table[1] = 0
    raised = code.replace(co_linetable=bytes(table))
    # Sets are enough to compare: the only change is one step from a line to another, and all lines behind it follow.
    lines = {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}
    lines_after = {line for _, _, line in raised.co_lines() if line is not None}
    return raised if lines_after | {code.co_firstlineno} == {line - 1 for line in lines} else None
