"""Tests of the reasons for a recompilation, of the places where graphs end, and of the calls that would cause the next
compilation."""

from __future__ import annotations

from pathlib import Path

import pytest

import depyf
import torch
from depyf import _core
from depyf.session import Session
from torch_helpers import check_dump, example, pages, runs_in


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    """Runs the training example under prepare_debug, and returns its session, its directory, and the arguments and
    results of each call."""
    directory = tmp_path_factory.mktemp("train")
    module = example("train")
    torch._dynamo.reset()
    with (
        torch._dynamo.config.patch(automatic_dynamic_local_pgo=False),
        depyf.prepare_debug(directory) as session,
    ):
        module.main("aot_eager")
    torch._dynamo.reset()
    return session, directory


def line_with(module, text):
    lines = Path(module.__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


def test_two_distinct_breaks_with_line_reason_and_hint(train):
    session, directory = train
    module = example("train")
    found = session.distinct_breaks()
    lines = [one.line.line for one, _ in found]
    assert lines == [line_with(module, 'print("step"'), line_with(module, "if x.mean() > 1000")]
    assert [len(ids) for _, ids in found] == [2, 3]
    (printed, _), (branch, _) = found
    assert printed.line.file == branch.line.file == module.__file__
    assert "print" in printed.explanation and "print" in printed.line.text and printed.hints
    assert branch.reason == "Data-dependent branching" and any("torch.cond" in hint for hint in branch.hints)
    index = pages(directory)
    assert index.count("## Graph breaks") == 1 and printed.hints[0] in index


def test_four_recompilations_with_both_values_and_the_line(train):
    session, directory = train
    module = example("train")
    again = session.recompilations()
    assert [frame.compile_id for frame in again] == ["0/1", "1/1", "2/1", "1/2"]
    for frame in again[:3]:
        (failure,) = frame.failures
        assert (failure.subject, failure.expected, failure.actual) == ("x.shape", "(8, 64)", "(16, 64)")
        assert failure.line.file == module.__file__
    scale = again[3].failures
    assert [one.entry for one in scale] == ["1/1", "1/0"]
    for one in scale:
        assert (one.condition, one.expected, one.actual) == ("self.scale == 1.0", "1.0", "0.5")
        assert one.line.line == line_with(module, "* self.scale") and "self.b2(x) * self.scale" in one.line.text
    assert "self.scale: expected 1.0, was 0.5" in pages(directory)
    assert all(frame.transformed_file for frame in session.frames) and len(session.frames) == 7


def test_each_compilation_has_guards_that_run(train):
    session, directory = train
    assert session.frames[0].guards_file == "__guards_0_for_forward.py"
    text = "".join((directory / frame.guards_file).read_text() for frame in session.frames)
    lines = text.splitlines()
    at = next(at for at, line in enumerate(lines) if "['scale'] == 1.0" in line or "['scale']) is float" in line)
    # the comment above the guards
    made_by = next(line for line in reversed(lines[:at]) if line.lstrip().startswith("#"))
    assert "train.py" in made_by and "self.b2(x) * self.scale" in made_by
    check_dump(directory)
    assert Session.from_dict(runs_in(directory)[0], str(directory)) == session


def test_guards_of_the_dump_decide(tmp_path):
    toy = example("toy")
    x = torch.ones(10)
    with depyf.prepare_debug(tmp_path) as session:
        toy.main("eager")
    space = {}
    exec((tmp_path / session.frames[0].guards_file).read_text(), space)
    scope = vars(toy)
    assert space["guard_0"]({"a": x, "b": x.clone()}, scope)
    assert not space["guard_0"]({"a": x, "b": x.double()}, scope)
    assert not space["guard_0"]({"a": x, "b": torch.ones(9)}, scope)


def test_sizes_are_told_of_and_what_specialised_them(tmp_path):
    def sized(x, y):
        if x.shape[0] == 6:
            return x * 2
        return x + y.sum()

    x, y = torch.ones(6, 3), torch.ones(5)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    torch._dynamo.mark_dynamic(y, 0)

    def other(x, y):
        return sized(x, y) + y.sum()

    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(other, backend="eager")(x, y)
    (frame,) = session.frames
    one, two = frame.symbols
    assert one.sources == ["L['x'].size()[0]"] and one.value == "6" and one.hint == "6"
    assert "if x.shape[0] == 6" in one.specialized_by.text
    assert two.sources == ["L['y'].size()[0]"] and not two.value and two.hint == "5" and two.range.startswith("[")
    limits = {limit.subject: limit for limit in frame.frontier}
    assert limits["x.shape[0]"].condition == "x.shape[0] == 6"
    text = (tmp_path / session.full_code[0].file).read_text()
    assert "specialised to 6" in text and "y.shape[0]" in text
    graph = (tmp_path / frame.files("Captured_Graph")[0]).read_text()
    assert f"f32[{two.name}]" in graph


def test_the_user_own_bound_is_told_with_its_line(tmp_path):
    def f(x):
        return x * 2 if x.shape[0] <= 40 else x * 3

    x = torch.ones(6)
    torch._dynamo.mark_dynamic(x, 0)
    compiled = torch.compile(f, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        compiled(x)
    limit = session.frames[0].frontier[0]
    assert limit.condition == "2 <= x.shape[0] <= 40" and "x.shape[0] <= 40" in limit.why
    with torch._dynamo.config.patch(error_on_recompile=True):
        compiled(torch.ones(40))
        with pytest.raises(torch._dynamo.exc.RecompileError):
            compiled(torch.ones(41))


def test_a_reason_that_is_no_guard_is_told_in_words(tmp_path):
    def f(x):
        return x + 1

    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(f, backend="eager")(torch.ones(3))
        torch.compile(f, backend="aot_eager")(torch.ones(3))
    (again,) = session.recompilations()
    assert "BACKEND_MATCH" in again.failures[0].condition


def test_global_state_that_changed_is_told(tmp_path):
    def f(x):
        return x + 1

    compiled = torch.compile(f, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        compiled(torch.ones(3))
        with torch.no_grad():
            compiled(torch.ones(3))
    (again,) = session.recompilations()
    (failure,) = again.failures
    assert failure.is_state and (failure.subject, failure.expected, failure.actual) == ("grad mode", "on", "off")
    assert str(failure) == "grad mode: off, was on when it was compiled"


@pytest.mark.parametrize(
    ("expression", "terms"),
    [
        ("L['x'].size()[0]", "x.shape[0]"),
        ("L['x'].size(1)", "x.shape[1]"),
        ("L['self'].__dict__['_modules']['b1'].__dict__['scale']", "self.b1.scale"),
        ("L['self']._modules['b1']._parameters['weight'].dtype", "self.b1.weight.dtype"),
        ("G['__import_torch_dot_nn_dot_functional'].gelu", "torch.nn.functional.gelu"),
        ("G['__builtins_dict___1']['print']", "print"),
        ("L['t']['k'] + G['N']", "t['k'] + N"),
        ("not python", "not python"),
        ("L['x'", "L['x'"),
    ],
)
def test_in_the_users_terms(expression, terms):
    assert _core.in_terms(expression) == terms


def test_bounds_of_a_condition():
    assert _core.bounds("2 <= L['x'].size()[0] and L['x'].size()[0] <= 64") == [
        ("x.shape[0]", ">=", "2"),
        ("x.shape[0]", "<=", "64"),
    ]
    assert _core.bounds("L['x'].size() == (8, 64)") == [("x.shape[0]", "==", "8"), ("x.shape[1]", "==", "64")]
    assert _core.bounds("3 > L['n'] > 1") == [("n", "<", "3"), ("n", ">", "1")]
    assert _core.bounds("f(L['n']) < L['m']") == [] == _core.bounds("L['x'")


def test_lines_of_dumped_files_are_not_the_users(tmp_path):
    # The transformed code of `step` calls the optimizer, which is compiled separately, and has a graph break in
    # PyTorch's code.
    weight = torch.ones(3, requires_grad=True)
    weight.grad = torch.ones(3)
    optimizer = torch.optim.Adam([weight])

    def step():
        optimizer.step()

    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(step, backend="eager")()
    breaks = [(frame.function, one) for frame in session.frames for one in frame.breaks]
    assert {function for function, _ in breaks} >= {"step", "wrapper"}
    for _, one in breaks:
        assert one.line is not None and Path(one.line.file).parent != tmp_path, one
    assert torch.equal(weight.detach(), torch.full((3,), 0.999))


def test_names_of_submodules_are_told_of_in_one_line():
    class Stack(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(3)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    torch._dynamo.reset()
    stack = Stack()
    torch.compile(stack, backend="eager")(torch.ones(2, 2))
    (entry,) = depyf.explain(stack).to_dict()["entries"]
    conditions = [one["condition"] for one in entry["frontier"]]
    assert not [one for one in conditions if "_modules" in one], conditions
    assert any(one.startswith("modules have the same classes, submodules and hooks") for one in conditions)


def test_what_is_expected_is_in_the_users_terms(tmp_path):
    f = torch.compile(lambda x, y: x + y, backend="eager", dynamic=True)
    with depyf.prepare_debug(tmp_path) as session:
        f(torch.ones(3, 4), torch.ones(3, 4))
        f(torch.ones(3, 5), torch.ones(3, 1))
    (again,) = session.recompilations()
    told = [str(one) for one in again.failures]
    assert any(".shape[1]" in one for one in told) and not any("L[" in one for one in told), told
