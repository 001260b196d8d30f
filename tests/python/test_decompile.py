"""Tests of depyf.decompile on anything that has code. Needs no torch."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
import types
from pathlib import Path

import pytest

import depyf
from depyf import decompiler
from depyf.decompilation import describe
from depyf.decompiler import find_code

UUID = "ca52d339_731e_4da7_884b_c097e226aab1"
OTHER_UUID = "0b52d339_731e_4da7_884b_c097e226aab2"


def function(a, /, b, *rest, c=1, **options):
    return a + b + c


class Thing:
    def method(self):
        return 1

    @classmethod
    def of_class(cls):
        return 2

    @staticmethod
    def static():
        return 3

    def __call__(self, x):
        return x


class Odd:
    """Raises a RuntimeError when any attribute or its repr is read."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __repr__(self):
        raise RuntimeError("repr")

    def __eq__(self, other):
        raise RuntimeError("eq")

    def __hash__(self):
        raise RuntimeError("hash")


@functools.lru_cache
def cached(x):
    return x


@functools.wraps(function)
def wrapper(*args):
    return function(*args)


@pytest.mark.parametrize(
    ("thing", "code"),
    [
        (function, function.__code__),
        (function.__code__, function.__code__),
        (Thing.method, Thing.method.__code__),
        (Thing().method, Thing.method.__code__),
        (Thing.of_class, Thing.of_class.__func__.__code__),
        (Thing.static, Thing.static.__code__),
        (Thing(), Thing.__call__.__code__),
        (functools.partial(functools.partial(function, 1), 2), function.__code__),
        (functools.partial(Thing().method), Thing.method.__code__),
        (cached, cached.__wrapped__.__code__),
        (wrapper, function.__code__),
    ],
)
def test_code_behind_a_callable(thing, code):
    assert find_code(thing) is code


@pytest.mark.parametrize("thing", [None, 1, "x", len, int, functools.partial(len), [].append])
def test_what_has_no_code_is_a_type_error(thing):
    with pytest.raises(TypeError, match="cannot decompile"):
        depyf.decompile(thing)


def test_an_object_that_fails_on_every_question_is_a_type_error():
    with pytest.raises(TypeError, match=r"cannot decompile an object of type .*Odd"):
        depyf.decompile(Odd())


def test_a_wrapper_of_itself_ends():
    def f():
        pass

    f.__wrapped__ = f
    with pytest.raises(TypeError, match="cannot decompile"):
        find_code(f)


def test_the_source_is_the_function():
    (found,) = [node for node in ast.parse(depyf.decompile(function)).body if isinstance(node, ast.FunctionDef)]
    assert found.name == "function"
    arguments = found.args
    assert [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)] == ["a", "b", "c"]
    assert len(arguments.posonlyargs) == 1 and len(arguments.kwonlyargs) == 1
    assert arguments.vararg.arg == "rest" and arguments.kwarg.arg == "options"


def test_it_runs_again():
    namespace = {}
    exec(depyf.decompile(function), namespace)
    assert namespace["function"](1, 2, c=4) == 7


def test_unknown_style():
    with pytest.raises(ValueError, match="unknown style 'pretty'"):
        depyf.decompile(function, style="pretty")


def with_names(*names):
    """Returns a function that reads a global of the first name, and in a nested function one of the second name."""

    def outer():
        return one, lambda: other  # noqa: F821

    renamed = dict(zip(("one", "other"), names))
    inner = outer.__code__.co_consts[1]
    inner = inner.replace(co_names=tuple(renamed[name] for name in inner.co_names))
    consts = tuple(inner if type(const) is types.CodeType else const for const in outer.__code__.co_consts)
    code = outer.__code__
    return code.replace(co_consts=consts, co_names=tuple(renamed[name] for name in code.co_names))


def test_names_are_shown_without_uuid_at_any_depth():
    source = depyf.decompile(with_names(f"__compiled_fn_1_{UUID}", f"__compiled_fn_2_{OTHER_UUID}"))
    assert "__compiled_fn_1" in source and "__compiled_fn_2" in source
    assert UUID not in source and OTHER_UUID not in source


def test_names_that_would_be_the_same_stay_apart():
    source = depyf.decompile(with_names(f"__compiled_fn_1_{UUID}", f"__compiled_fn_1_{OTHER_UUID}"))
    assert UUID in source and OTHER_UUID in source
    source = depyf.decompile(with_names(f"__compiled_fn_1_{UUID}", "__compiled_fn_1"))
    assert UUID in source


def with_constants(*values):
    def f():
        return "the first constant", "the second constant"

    def g():
        a = 1111
        b = 2222
        return a, b

    code = g.__code__
    assert f() == ("the first constant", "the second constant")
    table = dict(zip((1111, 2222), values))
    return code.replace(co_consts=tuple(table.get(c, c) if type(c) is int else c for c in code.co_consts))


def test_constants_that_are_no_literals_are_named_and_described():
    code = with_constants(Odd(), globals())
    source = depyf.decompile(code)
    lines = [line for line in source.splitlines() if line.startswith("# __const_")]
    assert len(lines) == 2
    assert lines[0].endswith(f": an object of type {__name__}.Odd")
    assert lines[1].endswith(f": the globals of module {__name__}")
    name = lines[0].split()[1].rstrip(":")
    assert f"a = {name}" in source


def test_describe_asks_nothing_of_the_object():
    class Meta(type):
        def __getattribute__(cls, name):
            raise RuntimeError(name)

        def __repr__(cls):
            raise RuntimeError("repr")

    hostile = Meta("Hostile", (), {})
    assert describe(Odd()).endswith(".Odd")
    assert describe({Odd: 1}) == "a dict of 1"
    assert "Hostile" in describe(type.__call__(hostile))
    assert describe(int) == "the class builtins.int"
    assert describe(len) == "the built-in function len"
    assert describe(sys) == "the module sys"
    assert describe(function) == f"the function {__name__}.function"
    assert describe([Odd()]) == "a list of 1"


def test_the_older_tools_names():
    assert depyf.Decompiler(function).decompile(overwite_fn_name="other").count("def other(") == 1
    assert depyf.Decompiler(function) == depyf.Decompiler(function.__code__)
    error = decompiler.DecompilationError("why")
    assert (error.message, str(error)) == ("why", "DecompilationError: why")


def test_decompile_and_compile_like(tmp_path):
    template = str(tmp_path / "code_%s.py")
    for _ in range(2):
        code = depyf.Decompiler.decompile_and_compile_like(
            function.__code__, function.__code__, filepath_template=template
        )
        assert types.FunctionType(code, {})(1, 2, c=4) == 7
        assert code.co_filename == str(tmp_path / "code_0.py")
    assert [path.name for path in tmp_path.iterdir()] == ["code_0.py"]
    assert "def function(" in (tmp_path / "code_0.py").read_text()


def test_works_without_torch():
    code = """
import sys
sys.modules["torch"] = None
import depyf
assert "return 0" in depyf.decompile(lambda: 0)
def f(x):
    return x
assert "def f(x)" in depyf.decompile(f)
assert depyf.compile_like(depyf.decompile(f), f.__code__).co_name == "f"
"""
    root = Path(__file__).parents[2] / "python"
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{code}"], check=True)


def test_public_names():
    assert set(depyf.__all__) <= set(dir(depyf))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        depyf.nonsense  # noqa: B018


def test_in_a_thread_with_a_small_stack():
    # The tree is too deep for the small stack of the thread: without a limit a signal would end the process. The
    # program runs only the core, because Python's own compiler would need a larger stack too.
    branches = "".join(f"    elif a == {number}:\n        a = {number}\n" for number in range(1, 1500))
    program = f"""
import threading
from depyf import _core
space = {{}}
exec({"def f(a):" + chr(10) + "    if a == 0:" + chr(10) + "        a = 0" + chr(10) + branches + "    return a"!r}, space)
code = space["f"].__code__
def work():
    print(_core.decompile(code).source.count("elif"), bool(_core.prove(code, code)))
threading.stack_size(64 << 10)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout.split()) == (0, ["1499", "True"]), done.stderr
