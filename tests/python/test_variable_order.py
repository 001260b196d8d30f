"""Tests of code that Dynamo of PyTorch 2.2 to 2.6 generates, but no compiler: variables in another order, generated
names."""

from __future__ import annotations

import dis
import types

import depyf
from depyf import _core, decompilation


def nested(code: types.CodeType, name: str) -> types.CodeType:
    return next(one for one in code.co_consts if type(one) is types.CodeType and one.co_name == name)


def around():
    apple = pear = plum = 1

    def reads(x):
        return apple - x, pear * x, plum

    def makes(x):
        def inner(y):
            return apple, plum, y

        return inner(x + pear)

    return reads, makes


def with_free(code: types.CodeType, order: tuple[str, ...]) -> types.CodeType:
    """Returns the code with its free variables in another order: the new code reads other variables, and is still
    valid."""
    assert sorted(order) == sorted(code.co_freevars) and order != code.co_freevars
    return code.replace(co_freevars=order)


def check(code: types.CodeType) -> types.CodeType:
    result = decompilation.decompile(code)
    assert result.proved, result.reason
    back = depyf.compile_like(result.source, code)
    assert depyf.prove(code, back)
    return back


def test_free_variables_keep_the_order_that_the_code_has():
    code = with_free(nested(around.__code__, "reads"), ("plum", "apple", "pear"))
    back = check(code)
    assert back.co_freevars == code.co_freevars
    cells = {"plum": 5, "apple": 70, "pear": 11}
    run = [
        types.FunctionType(one, {}, closure=tuple(types.CellType(cells[n]) for n in one.co_freevars))
        for one in (code, back)
    ]
    assert run[0](3) == run[1](3)


def test_nested_free_variables_keep_their_order():
    outer = nested(around.__code__, "makes")
    inner = nested(outer, "inner")
    swapped = with_free(inner, ("plum", "apple"))
    consts = tuple(swapped if one is inner else one for one in outer.co_consts)
    code = with_free(outer, ("plum", "pear", "apple")).replace(co_consts=consts)
    back = check(code)
    assert nested(back, "inner").co_freevars == ("plum", "apple")


def test_functions_inside_keep_the_qualified_name_that_they_have():
    outer = nested(around.__code__, "makes")
    inner = nested(outer, "inner")
    extra = {"co_qualname": "resume_in_it"} if hasattr(inner, "co_qualname") else {}
    consts = [inner.replace(**extra) if one is inner else one for one in outer.co_consts]
    if not extra:
        consts = ["resume_in_it.inner" if one == "around.<locals>.makes.<locals>.inner" else one for one in consts]
    code = outer.replace(co_consts=tuple(consts))
    back = check(code)
    if extra:
        assert nested(back, "inner").co_qualname == "resume_in_it"
    else:
        assert "resume_in_it.inner" in back.co_consts


def test_locals_keep_their_names_where_the_source_has_no_use_for_them():
    code = (lambda a, b: a + b).__code__
    code = code.replace(co_varnames=("a", "b", "left", "over"), co_nlocals=4)
    back = depyf.compile_like("def f(a, b):\n    return a + b\n", code)
    assert set(back.co_varnames) == {"a", "b", "left", "over"}
    # A local that the source reads as a global cannot be kept.
    back = depyf.compile_like("def f(a, b):\n    return a + over\n", code)
    assert "over" not in back.co_varnames and back.co_nlocals == 4


def test_a_free_variable_that_only_dead_code_reads_is_declared_in_both_functions():
    outer = nested(around.__code__, "makes")
    inner = nested(outer, "inner")
    load, leave = dis.opmap["LOAD_CONST"], dis.opmap["RETURN_VALUE"]
    at = next(one.offset for one in dis.get_instructions(inner) if one.opname.startswith("LOAD_"))
    dead = inner.replace(co_code=inner.co_code[:at] + bytes((load, 0, leave, 0)) + inner.co_code[at:])
    code = outer.replace(co_consts=tuple(dead if one is inner else one for one in outer.co_consts))
    result = decompilation.decompile(code)
    compile(result.source, "<source>", "exec")
    assert "nonlocal" in result.source
    assert result.proved, result.reason


def stores_to_cells(x, y):
    inner = lambda: (x, y)  # noqa: E731
    print(inner)
    x, y = x, y  # noqa: PLW0127
    return inner


def test_stores_to_cells_keep_their_order():
    # Dynamo stores the cells of a frame from the last to the first, with no SWAP before. Code that holds the cells can
    # observe the order.
    code = stores_to_cells.__code__
    raw = bytearray(code.co_code)
    moves = [one.offset for one in dis.get_instructions(code) if one.opname in ("SWAP", "ROT_TWO")]
    stores = [one.offset for one in dis.get_instructions(code) if one.opname == "STORE_DEREF"]
    assert len(moves) == 1 and len(stores) == 2
    raw[moves[0]], raw[moves[0] + 1] = dis.opmap["NOP"], 0
    one, two = stores
    raw[one + 1], raw[two + 1] = raw[two + 1], raw[one + 1]
    exchanged = code.replace(co_code=bytes(raw))
    assert not depyf.prove(code, exchanged)
    check(exchanged)


def functions_with_cells(a, b, c):
    return lambda: (a, b, c)


def test_functions_of_other_code_get_their_cells_in_its_order():
    code = functions_with_cells.__code__
    inner = nested(code, "<lambda>")
    index = code.co_consts.index(inner)
    other = with_free(inner, inner.co_freevars[::-1])
    result = _core.with_nested(code, {index: other})
    assert types.FunctionType(result, {})("a", "b", "c")() == ("c", "b", "a")
