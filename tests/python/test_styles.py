"""Tests of the readable and the exact style of decompiled source."""

from __future__ import annotations

import ast
import dis
import types

import pytest

import depyf
from depyf import decompilation

# Nodes with an observable effect; reading a global name has one too, but is not counted.
EFFECTS = (ast.Call, ast.Attribute, ast.Subscript, ast.BinOp, ast.Compare, ast.Await, ast.Yield, ast.YieldFrom)


def generated(__compiled_fn_1, a, b):
    """Code in the manner of Dynamo's: it fills lists that nobody else sees, and takes them apart."""
    frames = [()]
    out = __compiled_fn_1(a, b)
    values = [out[1]]
    values.extend([b])
    frame = [values]
    del values
    frame[0][0:0] = []
    top = frame[-1]
    del frame[-1]
    items = [[], frame]
    items.extend(top)
    pair = {"x": items[2], "y": frames}
    return __resume_at_2(*items, key=pair["x"], **{"z": pair["y"][0]})  # noqa: F821, PIE804


# The function is text, because pytest changes assertions in the code that it loads.
MIXED = """
def mixed(a, b, *c):
    "Effects of every kind, in expressions."
    total = g(a.x[b], k=h(*c)) + b
    if a.y and not c:
        total += f"{a.z!r:>{b.w}}" % c
    for i in a.all():
        total = i.x if total.y else i.z
        print(total or a.b())
    try:
        with a.lock(b.name) as lock, b:
            del lock.x[a.q :]
    except (OSError, a.Error) as error:
        raise ValueError(a.text) from error
    assert a.ok, a.no + b

    @a.wrap(b)
    def inner(x=a.default, *, y=b.y):
        return [lambda: a.x + each for each in x.y if y.z]

    class C(a.Base, meta=b.m):
        x = a.y.z

    a.x, b.y[a.z] = b.p, a.q.r
    while a.next() < b.last:
        a = yield a.sent
    return inner(a.b), not a.c
"""


def effects(node):
    """Returns the number of effects in the expressions of one statement."""
    return sum(isinstance(each, EFFECTS) for each in ast.walk(node))


def test_lists_that_nobody_sees_are_folded():
    source = depyf.decompile(generated)
    assert source.splitlines()[0] == decompilation.PROVED
    tree = ast.parse(source).body[0]
    out, x, last = tree.body[1:]
    assert ast.unparse(out) == "out = __compiled_fn_1(a, b)" and ast.unparse(x.value) == "out[1]"
    name = x.targets[0].id
    assert ast.unparse(last) == f"return __resume_at_2([], [], {name}, b, key={name}, **{{'z': ()}})"


def bound_within(__compiled_fn_1, self):
    weight = (inner := (norm := self._modules["norm"])._parameters)["weight"]
    return __compiled_fn_1(weight, inner["bias"], norm)


def test_what_is_bound_first_gets_a_statement_of_its_own():
    result = decompilation.decompile(bound_within.__code__)
    assert result.proved and result.style == "readable" and ":=" not in result.source


def read_before_it_is_bound(__compiled_fn_1, a, b):
    return __compiled_fn_1((a, (a := b.x), a))


def test_a_name_that_was_read_before_is_bound_where_it_was():
    result = decompilation.decompile(read_before_it_is_bound.__code__)
    assert result.proved and result.style == "readable" and "(a, (a := b.x), a)" in result.source


def test_lists_that_others_see_are_kept():
    def kept(__compiled_fn_1, a):
        one = [a]
        __compiled_fn_1(one)
        one.append(a)
        two = [one, one]
        three = one
        one.append(two)
        return three, two[0]

    def bound():
        x = [1]
        return (lambda: x), x.append(2)

    for function in (kept, bound):
        result = decompilation.decompile(function.__code__)
        assert result.proved and result.style == "readable"
    assert "append(a)" in depyf.decompile(kept)


def test_locals_of_people_stay():
    def f(a):
        unused = a.x
        copy = unused
        pair = (copy, a)
        first, second = pair
        return first, second

    assert depyf.decompile(f).count("=") == 4


def test_exact_has_one_effect_a_statement():
    source = depyf.decompile(generated, style="exact")
    assert source.splitlines()[0] == decompilation.PROVED
    for statement in ast.parse(source).body[0].body:
        assert (
            effects(statement) - isinstance(statement, ast.Expr) <= 2
            if "extend" in ast.unparse(statement)
            else (effects(statement) <= 1)
        ), ast.unparse(statement)


def test_exact_keeps_the_order_of_the_bytecode():
    namespace: dict[str, types.FunctionType] = {}
    exec(MIXED, namespace)
    result = decompilation.decompile(namespace["mixed"].__code__, style="exact")
    assert result.proved and result.style == "exact" and result.level == "structured"
    for line in map(str.strip, result.source.splitlines()):
        if line.startswith(("__temp", "total")) and "lambda" not in line and "f'" not in line:
            assert effects(ast.parse(line)) <= 1, line

    def linear(a, b):
        return a.p(b.q[a.r], k=g.s(b.t) - a.u), b.v  # noqa: F821

    tree = ast.parse(depyf.decompile(linear, style="exact")).body[0]
    assert all(effects(statement) <= 1 for statement in tree.body)
    found = [
        each.value.attr if isinstance(each.value, ast.Attribute) else each.value.id
        for each in tree.body
        if isinstance(each, ast.Assign) and isinstance(each.value, (ast.Attribute, ast.Name))
    ]
    loads = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL")
    assert found == [each.argval for each in dis.get_instructions(linear) if each.opname in loads]


def test_conditions_stay_whole_where_they_cannot_be_statements():
    def f(a, b):
        if (a.x and b.y or a.z) and b.w:
            return a.p < b.q < a.r
        return a.s

    result = decompilation.decompile(f.__code__, style="exact")
    assert result.proved and result.style == "exact" and result.level == "structured"


def test_code_that_sees_its_locals_keeps_them():
    def f(a):
        return a.x + sum(vars())

    result = decompilation.decompile(f.__code__, style="exact")
    assert result.proved and result.style == "plain" and "__temp" not in result.source


@pytest.mark.parametrize("broken", [("readable",), ("readable", "plain"), ("readable", "plain", "exact")])
def test_what_is_not_proved_gives_way_to_another_form(broken, monkeypatch):
    def f(a):
        return a.x + 1

    real = decompilation._decompile
    written = types.SimpleNamespace(
        source="def f(a):\n    return a.x\n", constants={}, notes=[], lines=[], level="structured"
    )
    monkeypatch.setattr(
        decompilation,
        "_decompile",
        lambda code, name, form, known, **options: (
            written if form in broken else real(code, name, form, known, **options)
        ),
    )
    result = decompilation.decompile(f.__code__)
    left = [form for form in ("plain", "exact") if form not in broken]
    assert result.proved == bool(left) and result.style == (left or ["readable"])[0]
    if not left:
        assert "offset" in result.source.splitlines()[0] and result.source.startswith("# not proved: ")


def test_classes_that_name_themselves_are_proved():
    source = """
class A(B):
    "A. about A"
    def f(self):
        class A2:
            x = A.y
        return super(A, self).f(), A.g
"""
    code = next(each for each in compile(source, "m", "exec").co_consts if isinstance(each, types.CodeType))
    assert decompilation.decompile(code).proved


def passed_to_what_fills_it(g):
    graph_out_0, graph_out_1, graph_out_2 = [], {}, [1, 2]
    graph_out_0.append(g(graph_out_0))
    graph_out_1["k"] = g(graph_out_1)
    graph_out_2[0] = g(graph_out_2)
    graph_out_2[1:] = [g(graph_out_2), 3]
    graph_out_0.extend([g(graph_out_0), 3])
    return g(graph_out_0), g(graph_out_1), g(graph_out_2)


def passed_beside_itself(g):
    graph_out_0, graph_out_1, graph_out_2 = [], [], [1]
    graph_out_3 = [graph_out_0, g(graph_out_0)]
    graph_out_4 = [g(graph_out_1), *graph_out_1]
    graph_out_5 = [graph_out_2, graph_out_2]
    g(*graph_out_5)
    return graph_out_0, graph_out_1, graph_out_2, graph_out_3, graph_out_4


def filled_with_itself(g):
    graph_out_0, graph_out_1 = [], {}
    graph_out_0.append([g(), graph_out_0])
    graph_out_1["k"] = [g(), graph_out_1]
    return graph_out_0, graph_out_1


@pytest.mark.parametrize("function", [passed_to_what_fills_it, passed_beside_itself, filled_with_itself])
def test_what_is_put_into_a_list_may_use_the_list(function):
    result = decompilation.decompile(function.__code__)
    assert result.proved and result.style == "readable"
