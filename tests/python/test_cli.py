"""The command `depyf`."""

from __future__ import annotations

import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

import depyf
from depyf.cli import main

PROGRAM = "class Thing:\n    def method(self, x):\n        return x\n\ndef function(y):\n    def inner(z):\n        return z\n    return inner\n"


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + 'raise RuntimeError("it was run")\n')
    return path


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("function", "def function(y):"),
        ("Thing.method", "def method(self, x):"),
        ("function.inner", "def inner(z):"),
    ],
)
def test_functions_of_a_file(program, name, line, capsys):
    assert main(["decompile", f"{program}:{name}"]) == 0
    assert line in capsys.readouterr().out.splitlines()


def test_several_targets(program, capsys):
    assert main(["decompile", f"{program}:function", "json.decoder:JSONDecoder.decode"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"# {program}:function" in lines and "# json.decoder:JSONDecoder.decode" in lines
    assert any(line.startswith("def decode(self, s, _w") for line in lines)


def test_compiled_files(program, capsys):
    compiled = py_compile.compile(str(program), str(program.with_suffix(".pyc")), doraise=True)
    assert main(["decompile", f"{compiled}:function"]) == 0
    assert "def function(y):" in capsys.readouterr().out
    data = Path(compiled).read_bytes()
    Path(compiled).write_bytes(b"\x00\x00\r\n" + data[4:])
    assert main(["decompile", compiled]) == 1
    assert "another version of Python" in capsys.readouterr().err
    Path(compiled).write_bytes(data[:-20])
    assert main(["decompile", compiled]) == 1


def test_what_is_not_there(program, capsys):
    targets = ["no_such_module_anywhere", f"{program}:missing", "sys", "a.b.c", "..", "json:"]
    assert main(["decompile", *targets[:5]]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 5 and all(
        line.startswith(f"depyf: {target}: ") for line, target in zip(errors, targets[:5], strict=True)
    )


def test_a_file_that_is_no_program(tmp_path, capsys):
    (tmp_path / "x.py").write_text("def f(:")
    assert main(["decompile", str(tmp_path / "x.py")]) == 1
    assert "invalid syntax" in capsys.readouterr().err


def test_as_a_program():
    environment = {"PYTHONPATH": str(Path(depyf.__file__).parents[1])}
    command = [sys.executable, "-m", "depyf"]
    shown = subprocess.run(
        [*command, "decompile", "--help"], env=environment, capture_output=True, text=True, check=True
    )
    assert "Runs none of it" in shown.stdout and "json.decoder:JSONDecoder.decode" in shown.stdout
    version = subprocess.run([*command, "--version"], env=environment, capture_output=True, text=True, check=True)
    assert version.stdout == f"depyf {depyf.__version__}\n"
    assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 2
