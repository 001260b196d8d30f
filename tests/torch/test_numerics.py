"""Tests of depyf.numerics: verdicts, planted faults, and that the state of the program does not change."""

from __future__ import annotations

import contextlib
import io
import linecache
import random
import subprocess
import sys

import pytest
from torch._dynamo.utils import counters

import depyf
import faults
import planted
import sound
import torch
from depyf.numerical import replaying
from torch_helpers import ENVIRONMENT


def smooth(x, w):
    return torch.tanh(x @ w).mean(-1)


def cancelling(x):
    y = x + 1.0e4
    return (y - 1.0e4) * 3  # cancellation: the low digits of x are lost


def logarithm(x):
    y = x - 1
    return torch.log(y)


class Counting(torch.nn.Module):
    """A model with every kind of state that a run can change."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(6)
        self.linear = torch.nn.Linear(6, 4)
        self.drop = torch.nn.Dropout(0.5)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.drop(self.linear(self.norm(x)))


def root_times_itself(x):
    y = x * 2
    return y.sqrt()


def masked(x):
    below = torch.ones(4, 4, dtype=torch.bool).tril()
    return torch.softmax(x.masked_fill(~below, -torch.inf), -1)


def saturated(x):
    return 1 / (1 + torch.exp(-x))


def test_what_is_right_is_called_as_exact_as_eager():
    report = depyf.numerics(
        torch.compile(smooth, backend="aot_eager"), torch.randn(8, 5), torch.randn(5, 3, requires_grad=True)
    )
    assert report.kind == "same" and report.finding is None, str(report)
    assert "as exact as eager" in report.verdict
    assert {row.name for row in report.graphs[0].rows} == {"output 0", "gradient of input 1"}


def test_eager_that_loses_digits_is_called_unstable():
    report = depyf.numerics(torch.compile(cancelling, backend="aot_eager"), torch.randn(64) * 1e-3)
    assert report.kind == "unstable", str(report)
    assert "subtraction of nearly equal values" in report.verdict and "(y - 1.0e4) * 3" in report.verdict


def test_the_first_nan_is_named_with_what_it_comes_from():
    report = depyf.numerics(torch.compile(logarithm, backend="aot_eager"), torch.tensor([2.0, 0.5]))
    assert report.kind == "not a number", str(report)
    assert "log" in report.verdict and "NaN" in report.verdict and "y = -0.5" in report.verdict


def test_the_first_nan_of_a_gradient_is_named_with_what_it_comes_from():
    x = torch.tensor([4.0, 0.0], requires_grad=True)
    report = depyf.numerics(torch.compile(root_times_itself, backend="aot_eager"), x)
    assert report.kind == "not a number", str(report)
    assert "the backward of" in report.verdict and "sqrt" in report.verdict and "y = 0" in report.verdict
    assert "y.sqrt()" in report.verdict


def test_infinities_that_the_program_writes_are_no_finding():
    report = depyf.numerics(torch.compile(masked, backend="aot_eager"), torch.randn(4, 4))
    assert report.kind == "same" and not report.notes, str(report)


def test_an_infinity_that_reaches_no_result_is_a_note():
    report = depyf.numerics(torch.compile(saturated, backend="aot_eager"), torch.tensor([1.0, -200.0]))
    assert report.kind == "same", str(report)
    assert "exp" in report.notes[0] and "all results are finite" in report.notes[0], report.notes


def test_the_program_is_where_it_was():
    torch.manual_seed(3)
    model, x = Counting(), torch.randn(7, 6)
    compiled = torch.compile(model, backend="aot_eager")
    compiled(x)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    versions = [value._version for value in model.state_dict().values()]
    generators, counted = (
        (torch.get_rng_state(), random.getstate()),
        {key: dict(value) for key, value in counters.items()},
    )
    entries = len(depyf.cache_entries(compiled))
    report = depyf.numerics(compiled, x)
    assert report.kind == "same", str(report)
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert [value._version for value in model.state_dict().values()] == versions
    assert model.calls == 1 and all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.get_rng_state(), generators[0]) and random.getstate() == generators[1]
    assert {key: dict(value) for key, value in counters.items()} == counted
    assert len(depyf.cache_entries(compiled)) == entries


@pytest.mark.parametrize("name", ["post-grad pass swaps sub", "gelu_backward without its second term"])
def test_a_planted_fault_is_named(name):
    fault = next(fault for fault in faults.FAULTS if fault.name == name)
    outcome = planted.judge(fault)
    assert outcome.is_named and outcome.is_line_named, outcome.text
    (at_fault,) = [row for row in outcome.measurements if row["is_alarm"]]
    assert fault.mark in linecache.getline(at_fault["place"]["file"], at_fault["place"]["line"])
    assert at_fault["unit"] == "ulp" and at_fault["value"] < 100 and "is wrong from" in at_fault["text"]


def test_the_command_compares_each_compiled_call(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch\n"
        '@torch.compile(backend="aot_eager")\n'
        "def double(x):\n"
        "    return x * 2\n"
        "print([double(torch.ones(2) * number).sum().item() for number in range(2)], sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "depyf", "numerics", str(script), "given"],
        capture_output=True,
        text=True,
        timeout=300,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0 and done.stdout == "[0.0, 4.0] ['given']\n", done.stderr
    assert done.stderr.count("double (aot_eager): the compiled result is as exact as eager") == 2


def test_a_reproduction_is_the_operator_alone_and_runs():
    fault = next(fault for fault in faults.FAULTS if fault.name == "post-grad pass swaps sub")
    outcome = planted.judge(fault, wants_reproduction=True)
    program = outcome.reproduction
    assert "def function(a, b):\n    c = a - b\n    return (c,)" in program
    for place in ("torch.randn((2, 2))", "inputs = [a, b]"):
        assert place in program

    def errors() -> tuple[float, float]:
        torch._dynamo.reset()
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(program, "reproduction.py", "exec"), {"__name__": "__main__"})
        _, eager, _, compiled = output.getvalue().split()
        return float(eager), float(compiled)

    with fault.plant():
        eager, compiled = errors()
    assert compiled > 1000 * max(eager, 1e-9)
    eager, compiled = errors()
    assert compiled <= 2 * max(eager, 1e-7)


def test_no_stage_of_a_sound_model_is_called_wrong(monkeypatch):
    """Compares all stages of a trained block, which depyf.numerics otherwise does only if a result looks wrong."""
    screen = replaying.screen

    def suspicious(*arguments):
        screening = screen(*arguments)
        screening.is_suspicious = True
        return screening

    monkeypatch.setattr(replaying, "screen", suspicious)
    torch.manual_seed(0)
    report = depyf.numerics(torch.compile(sound.Block(), backend="aot_eager"), torch.randn(2, 6, 32))
    assert report.kind == "same" and not report.notes, str(report)
    assert "joint graph" in report.graphs[0].stages and "runtime wrappers" in report.graphs[0].stages
