"""Tests that memory and time stay bounded for small files whose source would be very long."""

from __future__ import annotations

import dis
import importlib.util
import marshal
import subprocess
import types
from pathlib import Path

import pytest

from interpreters import interpreter

COMMAND = Path(__file__).parents[2] / "build/dev/depyf-decompile"


def assembled(steps: list[tuple[str, int]], constants: tuple, names: tuple[str, ...] = ("x", "y")) -> types.CodeType:
    """Returns the code of a module that runs these instructions, then returns the last constant."""
    code = b""
    for name, arg in [("RESUME", 0), *steps, ("LOAD_CONST", len(constants) - 1), ("RETURN_VALUE", 0)]:
        code += bytes([dis.opmap[name], arg]) + bytes(2 * dis._inline_cache_entries[dis.opmap[name]])
    return compile("", "m", "exec").replace(co_code=code, co_stacksize=200, co_names=names, co_consts=constants)


def copies(*steps: tuple[str, int]) -> types.CodeType:
    """Returns code of 60 repetitions of steps that use the value on the stack more than once, and leave one value."""
    return assembled([("LOAD_CONST", 0), *[("COPY", 1), *steps] * 60, ("STORE_NAME", 1)], (1, None))


def used_by_each_other(source: str) -> types.CodeType:
    """Returns code objects nested five levels deep, each of which creates 30 functions from the next one."""
    code = next(const for const in compile(source, "m", "exec").co_consts if isinstance(const, types.CodeType))
    for _ in range(5):
        made = assembled([("LOAD_CONST", 0), ("MAKE_FUNCTION", 0), ("POP_TOP", 0)] * 30, (code, None))
        code = made.replace(co_name=code.co_name, co_flags=code.co_flags)
    return assembled([("LOAD_CONST", 0), ("MAKE_FUNCTION", 0), ("POP_TOP", 0)] * 30, (code, None))


def with_constant(source: str, old: object, new: object) -> types.CodeType:
    code = compile(source, "m", "exec")
    return code.replace(co_consts=tuple(new if const == old else const for const in code.co_consts))


GROWING = {
    "tuples of copies": copies(("BUILD_TUPLE", 2)),
    "lists of copies": copies(("BUILD_LIST", 2)),
    "slices of copies": copies(("BUILD_SLICE", 2)),
    "sums of copies": copies(("BINARY_OP", 0)),
    "tuples of copies of tuples": copies(("COPY", 1), ("BUILD_TUPLE", 3)),
    "functions": used_by_each_other("def f(): return 1"),
    "lambdas": used_by_each_other("lambda: 1"),
    "a long constant": with_constant("f(1)\n" * 5_000, 1, "s" * 100_000),
    "a long name": compile("x\n" * 5_000, "m", "exec").replace(co_names=("n" * 100_000,)),
    "dots of an import": with_constant("from . import a", 1, 2**30),
}


def decompiled(pyc: Path) -> subprocess.CompletedProcess[str]:
    """Runs the command on a file, with a limit of time, and a limit of memory in proportion to the file's size."""
    # Address space in KiB: 64 times the file, 64 MiB, and the reserved stacks of threads.
    space = (64 * pyc.stat().st_size >> 10) + (64 << 10) + (256 << 10)
    command = f"ulimit -v {space}; exec {COMMAND} {pyc}"
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=10)


@pytest.mark.parametrize("code", GROWING.values(), ids=GROWING.keys())
def test_growth_is_bounded(code: types.CodeType, tmp_path: Path) -> None:
    pyc = tmp_path / "growing.pyc"
    pyc.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    done = decompiled(pyc)
    if done.returncode == 0:
        compile(done.stdout, "again", "exec")
    else:
        assert done.returncode == 1
        assert done.stderr.endswith("bytes\n"), done.stderr


def test_inlined_comprehensions_share_the_variables_of_their_function(tmp_path: Path) -> None:
    python = interpreter((3, 12))
    if python is None:
        pytest.skip("no CPython 3.12 here")
    source = tmp_path / "many.py"
    source.write_text("def f(x):\n" + "".join(f"    y{i} = [e for e in x if e]\n" for i in range(8_000)))
    compile_there = "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], doraise=True)"
    subprocess.run([python, "-c", compile_there, str(source), str(tmp_path / "many.pyc")], check=True)
    done = decompiled(tmp_path / "many.pyc")
    assert (done.returncode, done.stdout) == (0, source.read_text())


@pytest.mark.parametrize("version", [(3, 8), (3, 13)])
def test_a_list_of_many_conditions_fits_into_the_memory_of_its_file(version: tuple[int, int], tmp_path: Path) -> None:
    """Tests a list whose compiler keeps all earlier items on the stack while it evaluates the condition of an item."""
    python = interpreter(version)
    if not python:
        pytest.skip("no such interpreter here")
    source = tmp_path / "m.py"
    source.write_text("X = [" + ", ".join(f"(x{number} or y)" for number in range(800)) + "]\n", encoding="utf-8")
    pyc = tmp_path / "m.pyc"
    subprocess.run(
        [python, "-c", "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2])", source, pyc], check=True
    )
    result = decompiled(pyc)
    assert "not equal" not in result.stdout
    assert result.stdout.count(" or y") == 800


def test_a_function_with_the_flags_of_a_class_body_is_checked_as_a_function(tmp_path: Path) -> None:
    module = compile("def f():\n    yield a\n", "m", "exec")
    is_generator = 0x20
    code = module.replace(
        co_consts=tuple(
            const.replace(co_flags=is_generator) if isinstance(const, types.CodeType) else const
            for const in module.co_consts
        )
    )
    pyc = tmp_path / "m.pyc"
    pyc.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    result = decompiled(pyc)
    assert "yield a" in result.stdout
    assert "a yield outside of a function" not in result.stdout
