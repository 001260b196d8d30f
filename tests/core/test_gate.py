"""Tests of depyf-decompile --prove, which lowers the printed tree again and compares it with the bytecode by the
prover."""

import importlib.util
import json
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interpreters import VERSIONS, interpreter

ROOT = Path(__file__).parent.parent.parent
COMMAND = os.environ.get("DEPYF_DECOMPILE") or str(ROOT / "build" / "dev" / "depyf-decompile")
MUTANTS = ROOT / "build" / "dev" / "depyf-tree-mutants"

# One function for each part of the language that all versions have.
SOURCE = '''
"""A module."""
import os.path as p
from sys import argv as a, path
__all__ = ["f"]
N: int = 3

def decorate(fn, *, times=2):
    def inner(*args, **kwargs):
        nonlocal times
        times -= 1
        return fn(*args, **kwargs) if times > 0 else None
    return inner

@decorate
def f(x, y=1, *rest, key="k", **more):
    """Documented."""
    total = 0
    for i, (b, *total) in enumerate(rest):
        if not b and i in more or key is None:
            continue
        elif 0 < i <= y < 10:
            break
        total += x[i:y] if i else x.z[i]
    else:
        total = -total
    while total > 1:
        total //= 2
    try:
        with open(key) as file, open("b") as (d.e):
            return [line.strip(ch) for line in file if line for ch in line], {k: v for k, v in more.items()}
    except (OSError, ValueError) as error:
        raise RuntimeError(f"{error!r:>{y}} {key}") from error
    except TypeError:
        assert total, "text"
        del x[0]
    finally:
        print(*rest, sep="", **more)
    print({'a', 'b', 'c', *rest, 'd'}, {1, 2, *more}, ['a', 'b', 'c', *rest])
    return lambda q, r=total: (q, r, *rest)

class C(dict, metaclass=type):
    attribute = N
    __private = 1
    def method(self):
        super().__init__()
        self.value = self.__private
        return __class__
    def generator(self):
        got = yield self.value
        yield from (each for each in got if each != self)
    async def coroutine(self, other):
        async with other as one:
            async for item in one:
                await item
        return [each async for each in other]

if __name__ == "__main__":
    global_name = [*path, *a]
    print({**C(), "a": 1}, {1, 2, 3}, p)
'''


def pyc_of(source: str, python: str = sys.executable) -> bytes:
    program = (
        "import sys, marshal, importlib.util as u\n"
        "code = compile(sys.stdin.read(), 'm', 'exec', dont_inherit=True)\n"
        "sys.stdout.buffer.write(u.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))"
    )
    return subprocess.run([python, "-c", program], input=source.encode(), capture_output=True, check=True).stdout


def interpreter_of(version: tuple[int, int]) -> Path:
    """Returns the interpreter of a version; skips the test if there is none here."""
    python = interpreter(version)
    if not python:
        pytest.skip("no such interpreter")
    return python


def report_of(pyc: bytes, *options: str) -> dict:
    done = subprocess.run([COMMAND, "--json", *options, "-"], input=pyc, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_module_of_every_version_is_proved(version: tuple[int, int]) -> None:
    python = interpreter_of(version)
    report = report_of(pyc_of(SOURCE, python), "--prove")
    assert report["files"][0]["not_proved"] == []
    assert report["counts"]["proved"] >= 10


def test_private_names_in_class_patterns_stay_as_they_are() -> None:
    source = "class C:\n    def f(self, x):\n        match x:\n            case D(__attr=y): return y, self.__attr\n"
    assert report_of(pyc_of(source), "--prove")["files"][0]["not_proved"] == []


def test_nothing_is_said_to_be_proved_without_the_option() -> None:
    counts = report_of(pyc_of("x = 1\n"))["counts"]
    assert (counts["proved"], counts["not_proved"]) == (0, 0)


def test_what_is_not_proved_is_marked_and_listed() -> None:
    # In the changed bytecode, a method of class C reads the global `__D_x`. No source compiles to this bytecode,
    # because the compiler would change the name to `_C__D_x`.
    code = compile(
        "class C:\n    def f(self):\n        return _D__x\ndef g(): return 1\n", "m", "exec", dont_inherit=True
    )
    text = marshal.dumps(code)
    assert text.count(b"_D__x") == 1
    pyc = importlib.util.MAGIC_NUMBER + bytes(12) + text.replace(b"_D__x", b"__D_x")
    report = report_of(pyc, "--prove")
    [row] = report["files"][0]["not_proved"]
    assert row["name"].endswith("f")
    assert "load global __D_x" in row["reason"] and "_C__D_x" in row["reason"]
    lines = report["files"][0]["source"].splitlines()
    where = next(i for i, line in enumerate(lines) if "depyf: not proved:" in line)
    assert lines[where - 1].strip() == "def f(self):"
    assert report["counts"]["proved"] == len(list(nested(code))) - 1


@pytest.mark.parametrize("number", [10**5000, -(10**5000)], ids=["positive", "negative"])
def test_a_huge_integer_in_place_of_the_text_of_an_annotation_compiles(number: int) -> None:
    # CPython writes an annotation as a text, which it refuses for integers of more than 4,300 digits.
    source = "from __future__ import annotations\ndef f(a: x): return a\n"
    code = compile(source, "m", "exec", dont_inherit=True)
    huge = tuple(("a", number) if each == ("a", "x") else each for each in code.co_consts)
    assert huge != code.co_consts
    pyc = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code.replace(co_consts=huge))
    [file] = report_of(pyc, "--prove")["files"]
    compile(file["source"], "m", "exec", dont_inherit=True)
    assert "an integer in an annotation that is too long" in file["source"]


@pytest.mark.parametrize("version", [version for version in VERSIONS if version >= (3, 12)], ids=str)
@pytest.mark.parametrize("lazily", ["type A = _D__x", "type A[T: _D__x] = 1", "def f[T: _D__x](): pass"])
def test_a_value_of_a_lazy_function_that_is_not_proved_is_marked_around_it(
    version: tuple[int, int], lazily: str
) -> None:
    """No definition of the source stands for the function that evaluates the value."""
    pyc = pyc_of(f"class C:\n    {lazily}\n", interpreter_of(version))
    assert pyc.count(b"_D__x") == 1
    report = report_of(pyc.replace(b"_D__x", b"__D_x"), "--prove")
    assert report["files"][0]["not_proved"]
    lines = report["files"][0]["source"].splitlines()
    where = next(i for i, line in enumerate(lines) if "depyf: not proved:" in line)
    assert lines[where - 1] == "class C:"


@pytest.mark.parametrize("version", [version for version in VERSIONS if version >= (3, 13)], ids=str)
def test_lambdas_in_lazy_values_have_the_names_of_the_compiler(version: tuple[int, int]) -> None:
    source = (
        "class A[T: (lambda: 1)](f(lambda: 2)):\n    type B = [lambda: x for x in y]\n    type C[T] = lambda: 3\n"
        "def g():\n    type D = lambda: 4\n    def h[T: (lambda: 5)](a: (lambda: 6)): pass\n"
    )
    report = report_of(pyc_of(source, interpreter_of(version)), "--prove")
    assert report["files"][0]["not_proved"] == []
    assert report["files"][0]["stubs"] == 0


def nested(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from nested(constant)


def test_a_batch_ends_with_what_was_proved(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.pyc").write_bytes(pyc_of("def f(): return 1\n"))
    done = subprocess.run([COMMAND, "--prove", tmp_path], capture_output=True, timeout=60)
    assert b"4 of 4 code objects proved" in done.stderr


def test_mutants_of_a_tree_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.pyc"
    path.write_bytes(pyc_of(SOURCE))
    done = subprocess.run([MUTANTS, "400", "1", path], capture_output=True, timeout=120, text=True)
    assert done.returncode == 0, done.stderr
    tried, refused = 0, 0
    for line in done.stdout.splitlines():
        if line.endswith("mutants refused"):
            refused, tried = int(line.split()[0]), int(line.split()[2])
    assert tried >= 150
    assert refused == tried, done.stdout


ANNOTATIONS_THAT_LEAVE_NO_STORE = """
class A:
    o.attribute: int = 0

class B:
    o[1]: str = 0
    x = 1

class C:
    '''Documented.'''
    if 0:
        x: int
    y = 1

if 0:
    x: int
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_annotations_that_leave_no_store_are_set_up(version: tuple[int, int]) -> None:
    python = interpreter_of(version)
    report = report_of(pyc_of(ANNOTATIONS_THAT_LEAVE_NO_STORE, python), "--prove", "--check", str(python))
    assert report["files"][0]["not_proved"] == []
    assert "# depyf: not" not in report["files"][0]["source"]


# For a class or mapping pattern, 3.10 pushes the found values and a bool; later versions compare the values with None.
PATTERNS = """
def f(x, C):
    match x:
        case {"a": 1, C.key: [p, *q], **rest}:
            return p, q, rest
        case {"b": {"c": v}} | {"c": v, None: _}:
            return v
        case C(1, _, b=q, c=C.D(e=r)) if q:
            return q, r
        case (int(z) | str(z)) as q:
            return z, q
        case {}:
            return 0
"""


@pytest.mark.parametrize("version", [version for version in VERSIONS if version >= (3, 10)])
def test_class_and_mapping_patterns_are_proved_and_their_mutants_refused(
    version: tuple[int, int], tmp_path: Path
) -> None:
    python = interpreter_of(version)
    file = tmp_path / "a.pyc"
    file.write_bytes(pyc_of(PATTERNS, python))
    report = report_of(file.read_bytes(), "--prove", "--check", str(python))
    assert report["files"][0]["not_proved"] == []
    assert "case {'a': 1, C.key: [p, *q], **rest}:" in report["files"][0]["source"].replace('"', "'")
    done = subprocess.run([MUTANTS, "100", "1", file], capture_output=True, timeout=120, text=True)
    assert done.returncode == 0, done.stderr
    refused, _, tried = done.stdout.splitlines()[-1].split()[:3]
    assert refused == tried, done.stdout
    assert int(tried) >= 20


@pytest.mark.parametrize("version", [version for version in VERSIONS if version >= (3, 12)], ids=str)
def test_a_parameter_with_an_empty_name_is_a_parameter(version: tuple[int, int], tmp_path: Path) -> None:
    """`super()` reads the first parameter, whatever its name is."""
    python = interpreter(version)
    if python is None:
        pytest.skip("no such CPython here")
    path = tmp_path / "module.pyc"
    program = f"""
import importlib.util, marshal
code = compile("class C:\\n    def method(self):\\n        return super().method()", "m", "exec")
def renamed(code):
    consts = tuple(renamed(const) if hasattr(const, "co_code") else const for const in code.co_consts)
    names = tuple("" if name == "self" else name for name in code.co_varnames)
    return code.replace(co_consts=consts, co_varnames=names)
with open({str(path)!r}, "wb") as file:
    file.write(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(renamed(code)))
"""
    subprocess.run([python, "-c", program], check=True)
    shown = subprocess.run([COMMAND, "--prove", str(path)], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown
    assert "return super().method()" in shown.stdout


SUPER = """
class A:
    def in_comprehensions(self, b):
        return [super(A, self).f(x) for x in b], {super().f: y for y in b}, (super(A, self).f for x in b)

    def of_a_variable(self, b):
        return [super().f(self) for self in b]
"""


@pytest.mark.parametrize("version", [version for version in VERSIONS if version >= (3, 12)], ids=str)
@pytest.mark.parametrize("mention", ["", "print(super)\n"], ids=["plain", "mentioned"])
def test_attributes_of_super_are_proved(version: tuple[int, int], mention: str, tmp_path: Path) -> None:
    """The compiler emits LOAD_SUPER_ATTR in inlined comprehensions, but not in a module that reads the name `super`."""
    python = interpreter_of(version)
    report = report_of(pyc_of(mention + SUPER, python), "--prove")
    assert report["files"][0]["not_proved"] == []


@pytest.mark.parametrize("version", [version for version in VERSIONS if version >= (3, 14)], ids=str)
def test_locals_of_a_module_do_not_hold_an_empty_cell(version: tuple[int, int]) -> None:
    """The module's code has the cell __conditional_annotations__, which the lowered code does not need."""
    source = "names = list(locals())\nvalue: int\ndef f(x: str): return x\n"
    report = report_of(pyc_of(source, interpreter_of(version)), "--prove")
    assert report["files"][0]["not_proved"] == []


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_functions_with_equal_constant_defaults_are_proved(version: tuple[int, int]) -> None:
    """The compiler makes one constant of the defaults of both functions; the tree has two tuples."""
    source = "def f():\n    def a(x=None): pass\n    @decorator()\n    def b(y: value = None): return a\n    return b\n"
    assert report_of(pyc_of(source, interpreter_of(version)), "--prove")["files"][0]["not_proved"] == []


# What compilers choose by the form of the source, which the tree does not always keep.
CHOICES_OF_COMPILERS = {
    "equal tuples in a set": "def f(p): return p == {(1, 2), (1, 2), (1, 10, 2)}",
    "the order of annotations": "def f(a: A, b: B, /, c: C, *, d: D): pass",
    "many annotations": f"def f({', '.join(f'a{number}: int' for number in range(100))}): pass",
    "negative bounds of slices": "def f(m, x):\n    m[:-1] |= x\n    m[1:] ^= m[:-1]",
    "loops over one constant": "x = [f'{k}{s}' for k in a for s in ('',)]\ny = [k for k in a for s in [1]]",
    "overwritten targets": "def f(a, b, c):\n    _, _, _ = a(), b(), c()\n    return vars(_)",
    "a comprehension in a frame that is looked at": (
        "def f(args):\n    frame = inspect.currentframe()\n    args, _, _, found = g(frame)\n"
        "    args = {k: v for k, v in found.items() if k in args}\n    return h(args)"
    ),
    "a comprehension that hides a parameter of vars": (
        "def f(a, *, name):\n    x = {name: value for c in a for name, value in vars(c).items()}\n    async def g(b): pass"
    ),
}


@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("source", CHOICES_OF_COMPILERS.values(), ids=CHOICES_OF_COMPILERS)
def test_the_choices_of_compilers_are_known(source: str, version: tuple[int, int]) -> None:
    assert report_of(pyc_of(source, interpreter_of(version)), "--prove")["files"][0]["not_proved"] == []
