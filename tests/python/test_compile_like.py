"""Tests of depyf.compile_like, which compiles source to a code object that can replace another one. Needs no torch."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import textwrap
import types

import pytest

import depyf

UUID = "ca52d339_731e_4da7_884b_c097e226aab1"


def closure():
    used, unused, also_unused = 1, 2, 3

    def function(x, y=1, *, z):
        return (lambda: (x, used)), unused, also_unused

    return function


def code_of(source, name="f", **namespace):
    exec(textwrap.dedent(source), namespace)
    return namespace[name].__code__


def contract(code):
    """Returns the attributes that must be equal if one code object replaces another."""
    arguments = code.co_argcount + code.co_kwonlyargcount
    arguments += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return (
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_varnames[:arguments],
        code.co_freevars,
        code.co_cellvars,
        code.co_flags,
        code.co_name,
        getattr(code, "co_qualname", None),
    )


@pytest.mark.parametrize(
    "name",
    ["argparse", "ast", "asyncio.events", "contextlib", "dataclasses", "inspect", "json.decoder", "textwrap", "typing"],
)
def test_own_source_gives_the_same_code(name):
    # The source of a function must compile to the same code again, instruction by instruction.
    text = inspect.getsource(importlib.import_module(name))
    seen = 0
    for node in ast.parse(text).body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        source = ast.get_source_segment(text, node)
        # The function is compiled alone: within its module the compiler handles calls of imported functions
        # differently.
        module = compile(source, name, "exec", dont_inherit=True)
        code = next(c for c in module.co_consts if type(c) is types.CodeType and c.co_name == node.name)
        result = depyf.compile_like(source, code)
        assert contract(result) == contract(code)
        assert result.co_code == code.co_code, node.name
        assert nested_qualnames(result) == nested_qualnames(code)
        seen += 1
    assert seen >= 2


def nested_qualnames(code):
    found = [getattr(code, "co_qualname", code.co_name)]
    for const in code.co_consts:
        if type(const) is types.CodeType:
            found += nested_qualnames(const)
    return found


def test_unused_variables_are_kept():
    function = closure()
    code = depyf.compile_like("def function(x, y, *, z):\n    return y\n", function.__code__)
    assert contract(code) == contract(function.__code__)
    assert code.co_freevars == ("also_unused", "unused", "used") and code.co_cellvars == ("x",)
    function.__code__ = code
    assert function(1, 2, z=3) == 2


def test_free_variables_can_be_written():
    def counter():
        count = 0

        def up():
            nonlocal count
            count += 1
            return count

        return up

    up = counter()
    source = """
def outer():
    count = None
    def up():
        nonlocal count
        count = count + 10
        return count
    return up
"""
    up.__code__ = depyf.compile_like(source, up.__code__)
    assert (up(), up()) == (10, 20)


def test_a_function_in_a_function_without_arguments_is_not_taken_for_a_wrapper():
    code = code_of("def f():\n    def g():\n        return 1\n    return g")
    result = depyf.compile_like("def f():\n    def g():\n        return 2\n    return g", code)
    assert types.FunctionType(result, {})()() == 2


def test_the_functions_own_name_is_global():
    code = code_of("def f(n):\n    return n and n + f(n - 1)")
    namespace = {}
    result = depyf.compile_like("def f(n):\n    return n and n * 2 + f(n - 1)", code)
    namespace["f"] = types.FunctionType(result, namespace)
    assert namespace["f"](3) == 12 and result.co_freevars == ()


def test_at_least_as_many_locals():
    code = code_of("def f(x):\n    a = b = c = x\n    return a + b + c")
    result = depyf.compile_like("def f(x):\n    return x", code)
    assert result.co_nlocals >= code.co_nlocals == 4
    assert types.FunctionType(result, {})(5) == 5


def test_a_global_of_the_name_of_a_local_stays_global():
    code = code_of("def f(x):\n    size = x\n    return size")
    result = depyf.compile_like("def f(x):\n    return size", code)
    assert types.FunctionType(result, {"size": 7})(0) == 7


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize("body", ["yield x", "return x"])
def test_kinds_of_function(kind, body):
    code = code_of(f"{kind} f(x):\n    {body}")
    assert contract(depyf.compile_like(f"{kind} f(x):\n    {body}", code)) == contract(code)


def test_the_argument_of_a_comprehension():
    code = next(c for c in code_of("def f(x):\n    return (y + 1 for y in x)").co_consts if type(c) is types.CodeType)
    assert code.co_varnames[0] == ".0"
    result = depyf.compile_like("def genexpr(items):\n    for y in items:\n        yield y + 2", code)
    assert contract(result) == contract(code)
    assert list(types.FunctionType(result, {})(iter([1, 2]))) == [3, 4]


def test_future_flags_and_class_cell():
    class Base:
        def method(self):
            return 1

    class Derived(Base):
        def method(self):
            return super().method() + 1

    code = Derived.method.__code__
    result = depyf.compile_like("def method(self):\n    return super().method() + 5", code)
    assert contract(result) == contract(code) and "__class__" in result.co_freevars
    Derived.method.__code__ = result
    assert Derived().method() == 6
    assert result.co_flags & 0x1000000  # the flag of `from __future__ import annotations`, which this file has


def test_default_values_and_annotations_are_not_evaluated():
    code = code_of("def f(x: int = 1, *, y: str = 2) -> float:\n    return x, y")
    result = depyf.compile_like(
        "@missing\ndef f(x: missing = missing(), *, y: missing = missing) -> missing:\n    return y, x", code
    )
    assert contract(result) == contract(code)
    assert types.FunctionType(result, {})(1, y=2) == (2, 1)


def test_modules():
    code = compile("x = 1\n", "module", "exec")
    namespace = {}
    exec(depyf.compile_like("x = 2\ny = x\n", code), namespace)
    assert (namespace["x"], namespace["y"]) == (2, 2)


def test_the_uuid_comes_back():
    name = f"__compiled_fn_1_{UUID}"
    code = code_of(f"def f(x):\n    return {name}(x), [{name}(y) for y in x]")
    source = depyf.decompile(code)
    assert UUID not in source
    result = depyf.compile_like("def f(x):\n    return __compiled_fn_1(x), [__compiled_fn_1(y) for y in x]", code)
    function = types.FunctionType(result, {name: lambda x: (x, "called")})
    assert function([1]) == (([1], "called"), [(1, "called")])
    assert types.FunctionType(depyf.compile_like(source, code), {name: len})(["ab"]) == (1, [2])


class Hostile(dict):
    def __eq__(self, other):
        raise RuntimeError("compared")

    __hash__ = None

    def __repr__(self):
        raise RuntimeError("printed")

    def __bool__(self):
        raise RuntimeError("asked")


@pytest.mark.parametrize("many", [0, 300])
def test_constants_that_are_no_literals_are_the_same_objects(many):
    value, other = Hostile(), object()
    lines = "".join(f"    x = {i}.5\n" for i in range(many))
    code = code_of(f"def f(x):\n{lines}    a = 1111\n    b = lambda: 2222\n    return a, b()")
    inner = next(c for c in code.co_consts if type(c) is types.CodeType)
    new_inner = inner.replace(co_consts=tuple(other if c == 2222 else c for c in inner.co_consts))
    consts = tuple(value if type(c) is int and c == 1111 else new_inner if c is inner else c for c in code.co_consts)
    code = code.replace(co_consts=consts)
    source = depyf.decompile(code)
    result = types.FunctionType(depyf.compile_like(source, code), {})(0)
    assert result[0] is value and result[1] is other


def test_a_code_object_as_a_value_is_the_same_object():
    # Dynamo makes functions by calling a helper with the code as an argument.
    inner = code_of(f"def inner(x):\n    return __compiled_fn_1_{UUID}(x)", "inner")
    code = code_of("def f(make):\n    return make(1111)")
    code = code.replace(co_consts=tuple(inner if c == 1111 else c for c in code.co_consts))
    result = depyf.compile_like(depyf.decompile(code), code)
    assert types.FunctionType(result, {})(lambda value: value) is inner


@pytest.mark.filterwarnings("ignore:.*object is not callable:SyntaxWarning")
def test_called_constants_keep_the_stack_in_order():
    # The compiler loads a global that is called with other instructions than a global that is not called.
    called = [].append
    code = code_of("def f(x):\n    return (1111)(x)").replace(co_consts=(None, called))
    source = depyf.decompile(code)
    assert "(x)" in source
    items = types.FunctionType(depyf.compile_like(source, code), {})
    items(5)
    assert called.__self__ == [5]


@dataclasses.dataclass
class Wrong:
    original: str
    source: str
    message: str


@pytest.mark.parametrize(
    "wrong",
    [
        Wrong("def f(x): pass", "def f(y): pass", r"the arguments differ: \(y\) instead of \(x\)"),
        Wrong("def f(x, /): pass", "def f(x): pass", r"the arguments differ: \(x\) instead of \(x, /\)"),
        Wrong("def f(*, x): pass", "def f(x): pass", r"instead of \(\*, x\)"),
        Wrong("def f(x, *a, y, **k): pass", "def f(x, *b, y, **k): pass", r"instead of \(x, \*a, y, \*\*k\)"),
        Wrong("def f(): pass", "def f(): yield", "the source is a generator, but the code is not"),
        Wrong("def f(): yield", "def f(): pass", "the source is not a generator, but the code is"),
        Wrong("def f(): pass", "async def f(): pass", "the source is a coroutine, but the code is not"),
        Wrong(
            "def f(): pass",
            "def f():\n v = 1\n return lambda: v",
            r"the cell variables differ: \('v',\) instead of \(\)",
        ),
        Wrong("def f(): pass", "x = 1", "expected one function in the source, found 0"),
        Wrong("def f(): pass", "def f(): pass\ndef g(): pass", "expected one function in the source, found 2"),
        Wrong("def f():\n v = 1\n return lambda: v", "def f(): return v", "v is global in the source"),
    ],
)
def test_what_cannot_stand_in_is_a_value_error(wrong):
    with pytest.raises(ValueError, match=wrong.message):
        depyf.compile_like(wrong.source, code_of(wrong.original))


def test_syntax_errors_keep_their_place():
    with pytest.raises(SyntaxError) as caught:
        depyf.compile_like("def f(x):\n    return (x\n", code_of("def f(x): pass"))
    assert caught.value.lineno == 2 and caught.value.filename == "<depyf f>"
    with pytest.raises(SyntaxError) as caught:
        depyf.compile_like("def f(x):\n    y = 1\n    break\n", code_of("def f(x): pass"))
    assert caught.value.lineno == 3


def test_not_a_code_object():
    with pytest.raises(TypeError, match="expected a code object, got function"):
        depyf.compile_like("def f(): pass", test_modules)


def test_attributes_with_names_that_python_does_not_accept() -> None:
    def function(x):
        return x.zero.keyword(), x.other, getattr(x, x.name)

    names = tuple({"zero": "0", "keyword": "class"}.get(name, name) for name in function.__code__.co_names)
    code = function.__code__.replace(co_names=names)
    source = depyf.decompile(code)
    assert source.startswith("# proved equivalent to the bytecode\n")
    assert 'getattr(getattr(x, "0"), "class")()' in source
    result = depyf.compile_like(source, code)
    assert {"0", "class", "getattr"} <= set(result.co_names)
    assert depyf.prove(code, result)
