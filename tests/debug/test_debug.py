"""Tests of depyf.debug and depyf.here, without a debugger's prompt."""

from __future__ import annotations

import sys
import threading

import pytest
from torch._dynamo import convert_frame

import depyf
import torch
from depyf.whereabouts import Here
from torch_helpers import bytecode_hook, hooks


def work(x, y):
    return x * 2 + y


def other(x):
    return x - 1


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    before = hooks(), sys.gettrace(), convert_frame.CatchErrorsWrapper.__call__
    yield
    assert (hooks(), sys.gettrace(), convert_frame.CatchErrorsWrapper.__call__) == before
    torch._dynamo.reset()


@pytest.fixture
def compiled():
    """Yields a list to which the names of code objects are appended when Dynamo compiles them."""
    found = []
    with bytecode_hook(lambda old, new: found.append(old.co_name)):
        yield found


def test_inside_prepare_debug_is_an_error_and_changes_nothing(tmp_path):
    ran = []
    with depyf.prepare_debug(tmp_path), pytest.raises(RuntimeError, match="end the prepare_debug block first"):
        torch.compile(work, backend="eager")(torch.ones(2), torch.ones(2))
        with depyf.debug():
            ran.append(1)
    assert not ran


def test_nothing_is_compiled_and_a_miss_is_told_once_with_its_reason(tmp_path, compiled, capsys):
    function, never = torch.compile(work, backend="eager"), torch.compile(other, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        function(torch.ones(2), torch.ones(2))
    assert compiled == ["work"]
    with depyf.debug():
        assert function(torch.ones(2), torch.ones(2)).tolist() == [3, 3]
        hit = capsys.readouterr().out
        for _ in range(2):
            assert function(torch.ones(2).double(), torch.ones(2)).dtype == torch.float64
            assert never(torch.ones(2)).tolist() == [0, 0]
    missed = capsys.readouterr().out
    assert compiled == ["work"]
    assert str(tmp_path) in hit and session.frames[0].transformed_file in hit and "fits no compilation" not in hit
    lines = [line for line in missed.splitlines() if "fits no compilation" in line]
    assert len(lines) == 2
    assert "work (test_debug.py:" in lines[0] and "dtype mismatch" in lines[0]
    assert "other (test_debug.py:" in lines[1] and "it has not been compiled" in lines[1]
    # After the block, Dynamo compiles as before: the refused compilation has no lasting effect.
    function(torch.ones(2).double(), torch.ones(2))
    never(torch.ones(2))
    assert compiled == ["work", "work", "other"]


def test_state_is_restored_after_an_exception(tmp_path, compiled):
    with pytest.raises(ZeroDivisionError), depyf.debug():
        raise ZeroDivisionError
    torch.compile(other, backend="eager")(torch.ones(2))
    assert compiled == ["other"]


def test_without_a_dump_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(depyf.running, "files", {})
    with depyf.debug():
        pass
    assert "no dumped file is running code" in capsys.readouterr().out


def test_a_hook_that_raises_leaves_everything_as_it_was(monkeypatch, compiled):
    def hook(*args, **kwargs):
        raise LookupError("of the hook")

    monkeypatch.setenv("PYTHONBREAKPOINT", "")
    monkeypatch.setattr(sys, "breakpointhook", hook)
    with pytest.raises(LookupError), depyf.debug():
        pass
    torch.compile(other, backend="eager")(torch.ones(2))
    assert compiled == ["other"]


def test_a_hook_that_takes_a_frame_gets_the_callers(monkeypatch):
    frames = []
    monkeypatch.setenv("PYTHONBREAKPOINT", "")
    monkeypatch.setattr(sys, "breakpointhook", lambda frame=None: frames.append(frame))
    with depyf.debug():
        pass
    assert frames == [sys._getframe()]


def test_a_thread_beside_compiles_as_ever(compiled):
    results = []

    def beside():
        results.append(torch.compile(other, backend="eager")(torch.ones(2)).tolist())

    with depyf.debug():
        thread = threading.Thread(target=beside)
        thread.start()
        thread.join()
    assert results == [[0, 0]] and compiled == ["other"]


def test_two_blocks_in_a_row_and_one_in_the_other(compiled):
    function = torch.compile(other, backend="eager")
    for _ in range(2):
        with depyf.debug(), depyf.debug():
            function(torch.ones(2))
    assert not compiled
    function(torch.ones(2))
    assert compiled == ["other"]


# here


def test_here_in_a_graph(tmp_path):
    function = torch.compile(work, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        function(torch.ones(2), torch.ones(2))
    path = str(tmp_path / session.frames[0].files("Captured_Graph")[0])
    found = {}

    def tracer(frame, event, argument):
        if frame.f_code.co_filename == path and event == "line":
            found[frame.f_lineno] = depyf.here(frame)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        function(torch.ones(2), torch.ones(2))
    finally:
        sys.settrace(before)
    first, *_, last = (found[line] for line in sorted(found))
    for here in (first, last):
        assert here.function == "work" and here.compile_id == "0/0" and here.entry.compile_id == "0/0"
        assert here.file == path == here.graph.path and here.line in found
        assert here.guards_held is True and here.guards_hold is True and here.guard_failure is None
        assert "compilation 0/0 of work" in str(here) and "its guards held, and hold\n" in str(here)
    assert first.inputs["L_x_"].tolist() == [1, 1] and first.inputs["L_y_"].tolist() == [1, 1]
    assert not first.outputs
    (output,) = last.outputs.values()
    assert output.tolist() == [3, 3] and f"output {next(iter(last.outputs))}: torch.float32 (2,)" in str(last)
    assert depyf.here() is None


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_here_in_forward_and_backward(backend, tmp_path):
    function = torch.compile(lambda x, w: (torch.relu(x @ w) * 3).sum(), backend=backend)
    x, w = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    with depyf.prepare_debug(tmp_path) as session:
        function(x, w).backward()
    found = {}

    def tracer(frame, event, argument):
        if frame.f_code.co_filename.startswith(str(tmp_path)) and event == "line":
            found.setdefault(frame.f_code.co_filename, []).append(depyf.here(frame))
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        function(x, w).backward()
    finally:
        sys.settrace(before)
    kind = "kernel" if backend == "inductor" else "{}_graph"
    for direction in ("forward", "backward"):
        wanted = (kind.format(direction.capitalize()), direction)
        (name,) = (a.file for a in session.frames[0].artifacts if (a.kind, a.direction) == wanted)
        path = str(tmp_path / name)
        last = found[path][-1]
        assert last.compile_id == "0/0" and last.entry.compile_id == "0/0" and last.graph.direction == direction
        assert (last.guards_held, last.guards_hold) == (True if direction == "forward" else None, None)
        assert any(value.shape in ((), (2, 2)) for value in last.outputs.values())


def test_here_tells_when_the_guards_no_longer_hold(tmp_path):
    function = torch.compile(work, backend="eager")
    with depyf.prepare_debug(tmp_path):
        function(torch.ones(2), torch.ones(2))
    seen = []

    def callback(stop):
        if not seen:
            seen.append(depyf.here())
            stop.set_local("x", torch.ones(2).double())
            seen.append(depyf.here())
            stop.set_local("x", torch.ones(2))
        return "c"

    with depyf.step(work, callback=callback):
        assert function(torch.ones(2), torch.ones(2)).tolist() == [3, 3]
    before, after = seen
    assert before.guards_hold is True and before.graph.kind == "Captured_Graph"
    assert after.guards_hold is False and "dtype mismatch" in after.guard_failure
    # Neither the guards nor the code of the entry run at the prompt.
    for state in seen:
        assert repr(state).startswith("compilation ") and len(repr(state)) < 1000 and len(repr(state.entry)) < 300


def test_here_with_many_inputs_is_short_at_the_prompt():
    inputs = {f"input_{number}": torch.ones(3) for number in range(500)}
    state = Here("f", "0/0", "f.py", 1, None, None, None, None, None, inputs)
    assert len(repr(state)) < 700 and "print shows them" in repr(state) and len(str(state).splitlines()) == 501
