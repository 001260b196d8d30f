"""Tests of `%load_ext depyf` and `%%depyf` in a real IPython."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from torch_helpers import ENVIRONMENT, runs_in

pytest.importorskip("IPython")

SESSION = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in CELLS:
    print("success:", shell.run_cell(cell, store_history=True).success, flush=True)
"""
CELLS = [
    "%load_ext depyf",
    "import torch\nimport depyf",
    "%%depyf dump\n@torch.compile(backend='eager')\ndef f(x):\n    return x * 2\nvalue = f(torch.ones(2))\nvalue.tolist()",
    "%%depyf dump\nf(torch.ones(5))\nraise LookupError('of the cell')",
    "assert value.tolist() == [2, 2]",
    "%%depyf one two three\nvalue = None",
    "%unload_ext depyf",
    "%%depyf dump\nvalue = 1",
]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Returns the output of the session, cell by cell, and its directory."""
    directory = tmp_path_factory.mktemp("notebook")
    program = f"CELLS = {json.dumps(CELLS)}\n{SESSION}"
    variables = {**ENVIRONMENT, "IPYTHONDIR": str(directory / "ipython")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=directory, env=variables, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    *outputs, _ = text.split("success: ")
    return directory, [part.partition("\n")[2] if number else part for number, part in enumerate(outputs)], text


def test_a_cell_runs_in_a_block_and_shows_its_value_and_the_summary(session):
    directory, outputs, _ = session
    assert "[2.0, 2.0]" in outputs[2] and "1 process: 1 function, 1 compilation" in outputs[2]
    assert outputs[2].index("[2.0, 2.0]") < outputs[2].index("1 process")
    first, second = runs_in(directory / "dump")
    assert [frame["status"] for frame in first["frames"]] == ["compiled"]
    assert {frame["status"] for frame in second["frames"]} == {"compiled", "compiled before"}


def test_a_cell_that_raises_shows_its_traceback_once_and_the_summary_and_fails(session):
    _, outputs, _ = session
    assert outputs[3].count("LookupError: of the cell") == 1 and "the last of 2 runs" in outputs[3]
    assert outputs[3].rstrip().endswith("The cell raised the exception above.")


def test_variables_of_cells_stay_and_wrong_arguments_run_nothing(session):
    _, outputs, text = session
    success = [line.removeprefix("success: ") == "True" for line in text.splitlines() if line.startswith("success: ")]
    assert success == [True, True, True, False, True, False, True, False]
    assert "usage: %%depyf [DIR]" in outputs[5] and "unrecognized arguments: two three" in outputs[5]


def test_depyf_does_not_import_ipython():
    program = "import sys, depyf, depyf.notebook; print('IPython' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
