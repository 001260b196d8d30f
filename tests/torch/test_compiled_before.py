"""Tests of functions that were compiled before the block of prepare_debug is entered."""

from __future__ import annotations

import pytest

import depyf
import torch
from torch_helpers import check_dump, names_in


def double(x):
    return x * 2


def other(x):
    return x * 3


def breaks(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()


RESUME = f"torch_dynamo_resume_in_breaks_at_{breaks.__code__.co_firstlineno + 2}"


def test_nothing_new_is_compiled(tmp_path):
    compiled = torch.compile(breaks, backend="eager")
    compiled(torch.ones(3))
    with pytest.warns(UserWarning, match=r"Compiled before the block: breaks .*torch\._dynamo\.reset\(\)") as caught:
        with depyf.prepare_debug(tmp_path) as session:
            compiled(torch.ones(3))
    assert len([one for one in caught if "depyf" in str(one.message)]) == 1
    assert [frame.status for frame in session.frames] == ["compiled before"] * 2
    assert sorted(frame.compile_id for frame in session.frames) == ["0/0", "1/0"]
    assert names_in(tmp_path) == sorted(
        [
            "__transformed_code_0_for_breaks.py",
            f"__transformed_code_0_for_{RESUME}.py",
            "compilation_0_0.md",
            "compilation_1_0.md",
            "full_code_for_breaks_0.py",
            "index.md",
            "session.json",
            "times.json",
        ]
    )
    index = (tmp_path / "index.md").read_text()
    assert "torch._dynamo.reset()" in index
    story = (tmp_path / "full_code_for_breaks_0.py").read_text()
    assert "TENSOR_MATCH" in story and "def __transformed_code_0_for_breaks(" in story
    assert f"def __transformed_code_0_for_{RESUME}(" in story
    check_dump(tmp_path)


@pytest.mark.parametrize("give", [lambda fn, compiled: fn, lambda fn, compiled: compiled])
def test_with_the_function_its_entries_are_dumped(give, tmp_path):
    compiled = torch.compile(breaks, backend="eager")
    compiled(torch.ones(3))
    torch.compile(other, backend="eager")(torch.ones(3))
    with pytest.warns(UserWarning, match="Compiled before the block: breaks"):
        with depyf.prepare_debug(give(breaks, compiled), tmp_path) as session:
            torch.compile(double, backend="eager")(torch.ones(3))
    statuses = {(frame.function, frame.status) for frame in session.frames}
    assert statuses == {
        ("double", "compiled"),
        ("breaks", "compiled before"),
        (RESUME, "compiled before"),
    }
    assert "other" in (tmp_path / "index.md").read_text()
    check_dump(tmp_path)


def test_recompiled_in_the_block(tmp_path):
    compiled = torch.compile(double, backend="eager", dynamic=False)
    compiled(torch.ones(3))
    with pytest.warns(UserWarning, match="Compiled before the block: double"):
        with depyf.prepare_debug(tmp_path) as session:
            compiled(torch.ones(4))
    assert [(frame.compile_id, frame.status) for frame in session.frames] == [
        ("0/1", "compiled"),
        ("0/0", "compiled before"),
    ]
    check_dump(tmp_path)


def test_others_are_only_named(tmp_path, recwarn):
    torch.compile(other, backend="eager")(torch.ones(3))
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(double, backend="eager")(torch.ones(3))
    assert [frame.function for frame in session.frames] == ["double"]
    assert not [one for one in recwarn if "depyf" in str(one.message)]
    assert "Compiled before the block and not shown: other (test_compiled_before.py" in session.notes[0]


def test_a_module(tmp_path):
    class Module(torch.nn.Module):
        def forward(self, x):
            return x * 2

    module = Module()
    compiled = torch.compile(module, backend="eager")
    compiled(torch.ones(3))
    with pytest.warns(UserWarning, match=r"Compiled before the block: test_a_module.<locals>.Module.forward \("):
        with depyf.prepare_debug(compiled, tmp_path) as session:
            compiled(torch.ones(3))
    assert [frame.function for frame in session.frames] == ["forward"]


def test_nothing_at_all(tmp_path):
    with pytest.warns(UserWarning, match="Nothing was compiled in the block"), depyf.prepare_debug(tmp_path) as session:
        double(torch.ones(3))
    assert session.frames == [] and "Nothing was compiled" in (tmp_path / "index.md").read_text()


def test_after_a_reset_all_is_seen(tmp_path, recwarn):
    compiled = torch.compile(double, backend="eager")
    compiled(torch.ones(3))
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        compiled(torch.ones(3))
    assert [frame.status for frame in session.frames] == ["compiled"]
    assert not [one for one in recwarn if "depyf" in str(one.message)]
