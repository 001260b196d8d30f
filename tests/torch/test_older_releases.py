"""Imitates other releases of PyTorch where they behave differently. `make compat` runs depyf under older PyTorch
releases themselves."""

from __future__ import annotations

import types

import pytest
import torch._dynamo

import depyf
import torch
from depyf import decompilation, running
from depyf.compat import dynamo, trace
from torch_helpers import hooks


def test_the_guard_hook_is_called_without_a_builder_before_2_7():
    heard, before = [], hooks()
    undo = dynamo.add_guard_hook(lambda *args: heard.append(args))
    try:
        builder = object()
        torch._dynamo.guards.guard_manager_testing_hook_fn("manager", {"x": 1})
        torch._dynamo.guards.guard_manager_testing_hook_fn("manager", {}, "given")
    finally:
        undo()
    assert heard == [("manager", {"x": 1}, builder), ("manager", {}, "given")]
    assert hooks() == before


def test_code_without_all_of_the_names_of_a_frame_does_not_run():
    def function(a, b):
        c = a + b
        return c

    result = decompilation.decompile(function.__code__)
    text = "def function(a, b):\n    c = a + b\n    return c\n"
    assert isinstance(running.from_decompilation(result, text, "<file>"), types.CodeType)
    # PyTorch 2.2 looks up each name of the frame in the code that is to run there.
    code = function.__code__.replace(co_varnames=("a", "b", "len"), co_nlocals=3)
    text = "def function(a, b):\n    return len(a + b)\n"
    hidden = decompilation.Decompilation(code, text, "plain", "structured", code, depyf.prove(code, code), "", [])
    assert running.from_decompilation(hidden, text, "<file>") is None


def test_a_graph_is_printed_where_print_readable_takes_fewer_arguments(monkeypatch):
    original = torch.fx.GraphModule.print_readable

    def older(self, print_output=True):
        return original(self, print_output)

    compiled = torch.compile(lambda x: x * 2, backend="eager")
    compiled(torch.ones(3))
    monkeypatch.setattr(torch.fx.GraphModule, "print_readable", older)
    assert "return" in depyf.explain(compiled).entries[0].graphs[0].source


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_without_a_structured_trace_graphs_are_dumped_as_they_are_shown(backend, monkeypatch, tmp_path):
    monkeypatch.setattr(trace, "has_records", lambda: False)
    monkeypatch.setattr(trace, "add_trace_handler", lambda *receivers: lambda: None)
    x = torch.ones(3, requires_grad=True)
    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(lambda x: (x * 2).sin(), backend=backend)(x).sum().backward()
    (frame,) = session.frames
    kinds = {one.kind: one.running for one in frame.artifacts}
    wanted = {"Captured_Graph", "Joint_graph", "Forward_graph", "Backward_graph"}
    assert set(kinds) == (wanted if backend == "aot_eager" else {"Captured_Graph"})
    # Under AOTAutograd the captured graph does not run: the graphs that were made from it run instead.
    assert kinds["Captured_Graph"] == (backend == "eager")
    assert kinds.get("Forward_graph", True) and kinds.get("Backward_graph", True)
    assert frame.proved and frame.running
    for artifact in frame.artifacts:
        compile((tmp_path / artifact.file).read_text(), artifact.file, "exec")
