"""A short sample of `make soak`: random programs, plain and under prepare_debug."""

from __future__ import annotations

import subprocess
import sys

from torch_helpers import ENVIRONMENT, ROOT

SOAK = str(ROOT / "tools" / "soak" / "soak.py")

# A program that prepare_debug changes: its result depends on the number of hooks, so on an open block.
TELLS = """
import torch
from torch._dynamo import convert_frame


def main(x):
    return x + len(convert_frame._bytecode_hooks)


def subject():
    return main


def state():
    return len(convert_frame._bytecode_hooks)


def calls():
    return [((torch.ones(3),), {})]
"""


def soak(*arguments, keep):
    command = [sys.executable, SOAK, "--keep", str(keep), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=ENVIRONMENT)


def test_programs_are_not_harmed(tmp_path):
    # The program of this seed has cells that are stored from the last to the first.
    done = soak("--seed", "12", "--programs", "1", "--backends", "eager", keep=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 harmed" in done.stdout and " 0 not proved" in done.stdout and "0 that do not parse" in done.stdout
    assert not list(tmp_path.iterdir())


def test_harm_is_found_and_its_seed_is_printed(tmp_path):
    program = tmp_path / "tells.py"
    program.write_text(TELLS)
    done = soak("--program", str(program), "--seed", "7", "--backends", "eager", keep=tmp_path / "kept")
    assert done.returncode == 1
    assert "1 harmed" in done.stdout and "seed 7, eager" in done.stdout and "result: " in done.stdout


def test_what_varies_in_plain_runs_is_not_called_harm_and_hides_none(tmp_path):
    varying = TELLS.replace("import torch\n", "import sys\n\nimport torch\n", 1).replace(
        "    return len(convert_frame._bytecode_hooks)\n",
        "    sys.run_number = getattr(sys, 'run_number', 0) + 1\n    return sys.run_number\n",
    )
    program = tmp_path / "varies.py"
    program.write_text(varying)
    done = soak("--program", str(program), "--seed", "7", "--backends", "eager", keep=tmp_path / "kept")
    assert done.returncode == 1
    assert "1 harmed" in done.stdout and "call 0, result: " in done.stdout
    program.write_text(varying.replace("x + len(convert_frame._bytecode_hooks)", "x + 1"))
    done = soak("--program", str(program), "--seed", "7", "--backends", "eager", keep=tmp_path / "kept")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 harmed" in done.stdout and "1 left out" in done.stdout


def test_a_seed_gives_the_same_program_again():
    sys.path.insert(0, str(ROOT / "tools" / "soak"))
    try:
        import generate
    finally:
        sys.path.pop(0)
    assert generate.program(5) == generate.program(5) != generate.program(6)


def test_which_lists_are_the_same_is_seen_and_which_constants_is_not():
    sys.path.insert(0, str(ROOT / "tools" / "soak"))
    try:
        import observe
    finally:
        sys.path.pop(0)

    def plain(value):
        return observe._Values().plain(value)

    items, pair = [1], ("left", 2)
    assert plain([items, items]) != plain([items, [1]])
    assert plain([(items,), (items,)]) != plain([(items,), ([1],)])
    assert plain([pair, pair]) == plain([pair, tuple(["left", 2])]) != plain([pair, ("left", 3)])
