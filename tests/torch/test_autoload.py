"""`depyf autoload`: with its file in site-packages, any program with the variable DEPYF_DIR is captured; `off` leaves
nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from torch_helpers import ROOT, runs_in

PROGRAM = """
import subprocess, sys
import torch

def f(x):
    return x + len(sys.argv)

print(torch.compile(f, backend="eager")(torch.ones(2)).tolist(), flush=True)
if len(sys.argv) == 1:
    sys.exit(subprocess.run([sys.executable, __file__, "child"]).returncode + 5)
"""


@pytest.fixture
def environment(tmp_path):
    """Returns (the Python, the site-packages) of a new environment, in which the packages of this environment and the
    checkout can be imported."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (packages / "checkout.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT / 'python'}\n")
    return tmp_path / "venv" / "bin" / "python", packages


def content(directory):
    """Returns the files below a directory, with their contents."""
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def run(python, *arguments, cwd, directory=None):
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DEPYF_DIR")}
    if directory is not None:
        variables["DEPYF_DIR"] = str(directory)
    command = [str(python), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=600)


def test_the_file_is_written_and_removed_and_nothing_else_changes(environment, tmp_path):
    python, packages = environment
    before = content(packages)
    assert "off: " in run(python, "-m", "depyf", "autoload", "status", cwd=tmp_path).stdout
    for _ in range(2):
        done = run(python, "-m", "depyf", "autoload", "on", cwd=tmp_path)
        assert done.returncode == 0 and done.stdout.startswith("on: ")
    (name,) = set(content(packages)) - set(before)
    assert "on: " in run(python, "-m", "depyf", "autoload", "status", cwd=tmp_path).stdout
    assert run(python, "-c", "import sys; print('depyf_children' in sys.modules)", cwd=tmp_path).stdout == "False\n"
    for _ in range(2):
        done = run(python, "-m", "depyf", "autoload", "off", cwd=tmp_path)
        assert done.returncode == 0 and done.stdout.startswith("off: ")
    assert content(packages) == before
    (packages / name).write_text("import os\n")
    done = run(python, "-m", "depyf", "autoload", "off", cwd=tmp_path)
    assert done.returncode == 1 and "is not removed" in done.stderr and (packages / name).exists()


@pytest.mark.slow
def test_a_program_is_captured_with_its_children_if_the_variable_is_set(environment, tmp_path):
    python, _ = environment
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    plain = run(python, script, cwd=tmp_path, directory="dump")
    assert not (tmp_path / "dump").exists() and plain.returncode == 5 and plain.stdout
    run(python, "-m", "depyf", "autoload", "on", cwd=tmp_path)
    done = run(python, script, cwd=tmp_path, directory="dump")
    assert (done.returncode, done.stdout, done.stderr) == (5, plain.stdout, plain.stderr)
    (child,) = (tmp_path / "dump").glob("process_*")
    for folder in (tmp_path / "dump", child):
        assert [frame["function"] for frame in runs_in(folder)[0]["frames"]] == ["f"]
    assert sorted(path.name for path in Path(tmp_path).iterdir()) == ["dump", "program.py", "venv"]
    explained = run(sys.executable, ROOT / "python" / "depyf" / "__main__.py", "explain", "dump", cwd=tmp_path)
    assert explained.stdout.startswith("2 processes: 1 function, 2 compilations"), explained.stderr
