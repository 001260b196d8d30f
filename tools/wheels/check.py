"""Checks an installed depyf; the Python of its environment runs this file: check.py EXAMPLE [DUMP]

EXAMPLE is a program that calls torch.compile, which `depyf run` runs if PyTorch is installed; DUMP is the dump of an
earlier run of EXAMPLE, for depyf-report. Prints the version and the tag of the installed depyf, and the checks that
were run.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import py_compile
import subprocess
import sys
import tempfile
from pathlib import Path

import depyf

COMMANDS = Path(sys.prefix) / "bin"
HAS_TORCH = importlib.util.find_spec("torch") is not None


def gcd(a, b):
    while b:
        a, b = b, a % b
    return [i for i in range(1, a + 1) if not a % i]


def output(*command: object) -> str:
    """Runs a command, which has to succeed, and returns its standard output and standard error."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def check_decompile() -> None:
    source = depyf.decompile(gcd)
    code = depyf.compile_like(source, gcd.__code__)
    assert "proved equivalent" in source and "while" in source, source
    assert depyf.prove(gcd.__code__, code)
    before = gcd(84, 36)
    gcd.__code__ = code
    assert gcd(84, 36) == before == [1, 2, 3, 4, 6, 12]


def check_commands(folder: Path, dump: Path | None) -> None:
    for command in ([COMMANDS / "depyf"], [sys.executable, "-m", "depyf"]):
        assert "usage: depyf" in output(*command, "--help")
    compiled = py_compile.compile(__file__, cfile=str(folder / "check.pyc"), doraise=True)
    assert "def gcd(a, b):" in output(COMMANDS / "depyf-decompile", "--prove", compiled)
    assert "usage: depyf-report" in output(COMMANDS / "depyf-report", "--help")
    if dump:
        page = folder / "report.html"
        output(COMMANDS / "depyf-report", "-o", page, dump)
        assert "toy_example" in output(COMMANDS / "depyf-report", dump)
        assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def check_torch_is_asked_for() -> None:
    try:
        depyf.explain(gcd)
    except ImportError as error:
        assert "torch" in str(error), error
    else:
        raise AssertionError("depyf.explain worked without PyTorch")


def check_run(folder: Path, example: Path) -> Path:
    """Runs the example under `depyf run`. Returns the dump."""
    dump = folder / "dump"
    assert "toy_example" in output(COMMANDS / "depyf", "run", "-o", dump, example)
    transformed = list(dump.glob("__transformed_code_*toy_example*.py"))
    assert transformed and "__compiled_fn_" in transformed[0].read_text()
    return dump


def main() -> None:
    example = Path(sys.argv[1])
    dump = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    assert Path(depyf.__file__).is_relative_to(sys.prefix), depyf.__file__
    check_decompile()
    tried = ["decompile", "depyf-decompile", "depyf-report"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if HAS_TORCH:
            dump = check_run(folder, example)
            tried.append(f"depyf run with PyTorch {importlib.metadata.version('torch')}")
        else:
            check_torch_is_asked_for()
        check_commands(folder, dump)
    wheel = importlib.metadata.distribution("depyf").read_text("WHEEL") or ""
    tags = [line.partition(": ")[2] for line in wheel.splitlines() if line.startswith("Tag")]
    print(f"{depyf.__version__} {' '.join(tags)}: {', '.join(tried)}")


main()
