"""Tests that depyf.step stops at every instruction of the code that torch.compile generates for the examples (eager),
including resume functions."""

from __future__ import annotations

import sys
import warnings

import pytest

import depyf
from depyf.toolkit import cache_entries
from step.driving import Check, tools

torch = pytest.importorskip("torch")

from torch_helpers import example  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def eval_frame_callback():
    from torch._C._dynamo.eval_frame import get_eval_frame_callback

    return get_eval_frame_callback()


def compare(one, two):
    """True if two values are equal, with tensors of the same type and content."""
    if isinstance(one, torch.Tensor):
        return isinstance(two, torch.Tensor) and one.dtype == two.dtype and torch.equal(one, two)
    if isinstance(one, (list, tuple)):
        return type(one) is type(two) and len(one) == len(two) and all(map(compare, one, two))
    if isinstance(one, dict):
        return list(one) == list(two) and all(compare(one[key], two[key]) for key in one)
    return one == two


def step_through(run, *functions):
    """Runs compiled code without depyf.step, and then with it and a check at each instruction; `functions` are the
    arguments of depyf.step. Returns the check."""
    before = tools(), eval_frame_callback()
    plain = run()
    check = Check()
    with depyf.step(*functions, callback=check):
        stepped = run()
    assert (tools(), eval_frame_callback()) == before
    assert check.wrong == []
    assert compare(stepped, plain)
    return check


def test_a_call_of_a_graph_is_shown_at_the_line_that_calls_it():
    """The result of the graph stays on the stack while PyTorch's helper variables are deleted, so that the source
    stores the result in a temporary in front of the `del` statement."""
    compiled = torch.compile(lambda x: torch.sin(x) * 2, backend="eager")
    compiled(torch.ones(3))
    shown = []

    def note(stop):
        if stop.instruction.opname.startswith("CALL"):
            shown.append(stop.source.lines[stop.line - 1])

    with depyf.step(compiled, callback=note):
        compiled(torch.ones(3))
    assert shown and all("(" in line for line in shown), shown


def test_toy():
    module = example("toy")
    compiled = torch.compile(module.toy_example._torchdynamo_orig_callable, backend="eager")

    def run():
        return [compiled(torch.arange(10.0) - 3, sign * torch.ones(10)) for sign in (1, -1)]

    run()
    check = step_through(run)
    assert check.stops > 200 and check.evaluated > 100
    resumes = {name for name in check.functions if name.startswith("torch_dynamo_resume_in_toy_example")}
    assert resumes and "toy_example" in check.functions


def test_train(capsys):
    module = example("train")
    torch.manual_seed(0)
    net = module.Net()
    compiled = torch.compile(net, backend="eager")

    def run():
        torch.manual_seed(1)
        losses = []
        for batch in (8, 16):
            net.zero_grad()
            loss = torch.nn.functional.nll_loss(compiled(torch.randn(batch, 64)), torch.randint(0, 10, (batch,)))
            loss.backward()
            losses.append((loss.detach(), [parameter.grad.clone() for parameter in net.parameters()]))
        return losses

    run()
    check = step_through(run)
    assert check.stops > 1000 and check.evaluated > 300
    assert "forward" in check.functions and len([n for n in check.functions if n.startswith("torch_dynamo_res")]) == 2


@pytest.mark.parametrize("case", [name for name, *_ in example("hard").cases()])
def test_hard(case, capsys):
    function, make = next((f, m) for name, f, m in example("hard").cases() if name == case)
    compiled = torch.compile(function, backend="eager")

    def run():
        args, kwargs = make()
        result = compiled(*args, **kwargs)
        return result, args

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run()
        run()
        check = step_through(run)
        if case in ("break_in_try", "break_in_loop"):
            # Dynamo does not compile the function, so there is no transformed code to stop in; depyf.step stops in the
            # user's code if the function is given.
            assert check.stops == 0 and not cache_entries(function)
            check = step_through(run, function)
            assert case in check.functions
    assert check.stops > 45 and check.evaluated > 20  # the shortest function has 47 stops


def test_under_another_tracer_and_two_blocks_in_a_row():
    module = example("toy")
    compiled = torch.compile(module.toy_example._torchdynamo_orig_callable, backend="eager")

    def run():
        return compiled(torch.arange(10.0), torch.ones(10))

    run()
    seen = []

    def tracer(frame, event, argument):
        seen.append(event)
        return None

    outer = sys.gettrace()
    sys.settrace(tracer)
    try:
        first = step_through(run)
        second = step_through(run)
    finally:
        sys.settrace(outer)
    assert first.stops == second.stops > 100 and seen
