"""Tests of the command `depyf`."""

from __future__ import annotations

import importlib.util
import json
import platform
import py_compile
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import depyf
from depyf import _core
from depyf.cli import main
from interpreters import VERSIONS, interpreter

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
    assert main(["decompile", f"{compiled}:function"]) == 1
    assert "another version of Python" in capsys.readouterr().err
    assert main(["decompile", compiled]) == 1
    assert f"{compiled}: 0: " in capsys.readouterr().err
    Path(compiled).write_bytes(data[:-20])
    assert main(["decompile", compiled]) == 1


def test_what_is_not_there(program, capsys):
    targets = ["no_such_module_anywhere", f"{program}:missing", "sys", "a.b.c", "...", "missing.pyc"]
    assert main(["decompile", *targets]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == len(targets) and all(
        line.startswith(f"depyf: {target}: ") for line, target in zip(errors, targets, strict=True)
    )


@pytest.mark.parametrize("version", VERSIONS, ids=lambda v: "%d.%d" % v)
def test_files_of_every_version(version, tmp_path, capsys):
    python = interpreter(version)
    if python is None:
        pytest.skip("no such interpreter here")
    (tmp_path / "program.py").write_text(PROGRAM)
    compiled = tmp_path / "program.pyc"
    subprocess.run(
        [python, "-c", f"import py_compile; py_compile.compile('program.py', {str(compiled)!r})"], cwd=tmp_path
    )
    assert main(["decompile", str(compiled)]) == 0
    source = capsys.readouterr().out
    assert "\n    def method(self, x):\n        return x\n" in source
    assert ("# proved" in source) == (version == sys.version_info[:2])
    assert main(["decompile", "--check", python, str(compiled)]) == 0
    assert "not equal" not in capsys.readouterr().out


def test_folders(program, tmp_path, capsys):
    for name in "one", "two":
        py_compile.compile(
            str(program), str(tmp_path / "built" / name / "__pycache__" / f"{name}.cpython-311.pyc"), doraise=True
        )
    (tmp_path / "built" / "broken.pyc").write_bytes(b"nothing")
    assert main(["decompile", "-j", "2", "-o", str(tmp_path / "out"), str(tmp_path / "built")]) == 1
    printed = capsys.readouterr()
    assert not printed.out and printed.err.startswith(f"{tmp_path / 'built' / 'broken.pyc'}: 0: ")
    assert sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.py")) == [
        "one/one.py",
        "two/two.py",
    ]
    assert "def function(y):" in (tmp_path / "out" / "two" / "two.py").read_text()
    (tmp_path / "empty").mkdir()
    assert main(["decompile", str(tmp_path / "empty")]) == 1 and "no .pyc files" in capsys.readouterr().err


def test_standard_input(program, tmp_path):
    compiled = py_compile.compile(str(program), str(tmp_path / "program.pyc"), doraise=True)
    done = subprocess.run(
        [sys.executable, "-m", "depyf", "decompile", "-"], input=Path(compiled).read_bytes(), capture_output=True
    )
    assert done.returncode == 0 and b"def function(y):" in done.stdout, done.stderr


def test_other_texts(program, capsys):
    def shown(*options):
        assert main(["decompile", *options]) == 0
        return capsys.readouterr().out

    target = f"{program}:function"
    assert "digraph" in shown("--cfg", target)
    assert "return_value" in shown("--dis", target)
    assert json.loads(shown("--lines", target))["lines"]
    assert "co_name" in shown("--dump-load", target) or "name" in shown("--dump-load", target)
    assert "lift" in shown("--dump-after", "lift", target)
    assert "return inner" in shown("--stop-after", "structure", target)
    with pytest.raises(SystemExit):
        main(["decompile", "--cfg", "--dis", target])
    assert "not allowed with" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["decompile", "-j", "0", target])
    assert "from 1 to 256" in capsys.readouterr().err


def test_a_reader_that_goes_away(program, tmp_path):
    compiled = py_compile.compile(str(program), str(tmp_path / "program.pyc"), doraise=True)
    code = (
        "import sys; from depyf import _core\n"
        "def text(it): raise BrokenPipeError\n"
        f"try: _core.decompile_files([{compiled!r}] * 1000, text, print, jobs=2)\n"
        "except BrokenPipeError: print('came through')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "came through\n", done.stderr


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
    assert "The code is not executed." in shown.stdout and "json.decoder:JSONDecoder.decode" in shown.stdout
    version = subprocess.run([*command, "--version"], env=environment, capture_output=True, text=True, check=True)
    torch = f"PyTorch {metadata.version('torch')}" if importlib.util.find_spec("torch") else "no PyTorch"
    expected = f"depyf {depyf.__version__}, core {_core.__version__}, Python {platform.python_version()}, {torch}\n"
    assert version.stdout == expected
    assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 2


def test_explain_sums_up_logs_and_names_a_cut(tmp_path, capfd):
    metrics = '{"compilation_metrics": {"co_name": "step", "co_filename": "/a/net.py", "co_firstlineno": 7}'
    record = f'V1123 02:17:10.130000 4711 torch/a.py:1] {metrics}, "frame_id": 0, "frame_compile_id": 0}}\n'
    (tmp_path / "run.log").write_text(record)
    assert main(["explain", str(tmp_path)]) == 0
    assert "step (net.py:7)" in capfd.readouterr().out
    (tmp_path / "run.log").write_text(record + record[:-9])
    assert main(["explain", str(tmp_path / "run.log")]) == 1
    assert "step (net.py:7)" in capfd.readouterr().out
    assert main(["explain", str(tmp_path / "none.log")]) == 1
    assert "none.log" in capfd.readouterr().err
