"""The code that `depyf run` puts into the environment of a program's processes has no other effects."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import interpreters

ROOT = Path(__file__).parents[2]
STARTUP = ROOT / "python" / "depyf_children" / "startup"

STATE = """
import sys
print([path for path in sys.path if "startup" in path], sorted(set(sys.modules) & {"depyf", "depyf_children"}))
print(getattr(sys.modules.get("sitecustomize"), "__file__", None), getattr(sys, "ran", 0))
print([type(finder).__name__ for finder in sys.meta_path if "depyf" in type(finder).__module__])
"""


def start(python=sys.executable, prefix=sys.prefix, path=(), directory="dump"):
    """Starts Python as `depyf run` starts it, and returns the lines that it prints about its own state."""
    variables = {
        **os.environ,
        "DEPYF_DIR": str(directory),
        "DEPYF_PREFIX": prefix,
        "PYTHONPATH": os.pathsep.join(map(str, (STARTUP, *path))),
    }
    done = subprocess.run([python, "-c", STATE], env=variables, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_process_is_watched_without_loading_depyf(tmp_path):
    paths, _, finders = start(directory=tmp_path / "dump")
    assert paths == "[] ['depyf_children']" and finders == "['_Finder']"
    assert not (tmp_path / "dump").exists()


def test_the_sitecustomize_that_a_user_has_is_executed_once_and_is_the_module(tmp_path):
    own = tmp_path / "sitecustomize.py"
    own.write_text("import sys\nsys.ran = getattr(sys, 'ran', 0) + 1\n")
    paths, module, finders = start(path=[tmp_path])
    assert module == f"{own} 1" and paths.startswith("[] ") and finders == "['_Finder']"


def test_an_error_in_the_sitecustomize_of_a_user_is_reported_as_without_depyf(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import nothing_of_this_name\n")
    errors = []
    for path in ([STARTUP, tmp_path], [tmp_path]):
        variables = {**os.environ, "DEPYF_PREFIX": sys.prefix, "PYTHONPATH": os.pathsep.join(map(str, path))}
        done = subprocess.run([sys.executable, "-c", "pass"], env=variables, capture_output=True, text=True, check=True)
        errors.append(done.stderr)
    assert errors[0] == errors[1] and "nothing_of_this_name" in errors[0]


@pytest.mark.parametrize("version", interpreters.VERSIONS)
def test_a_python_of_another_environment_is_left_alone(version):
    python = interpreters.interpreter(version)
    if python is None or python == sys.executable:
        pytest.skip(f"no Python {version} outside this environment")
    assert start(python=python) == ["[] []", f"{STARTUP / 'sitecustomize.py'} 0", "[]"]
