"""Code that runs from files takes no more memory than plain torch.compile. `make bench-memory` measures the memory of
more programs than these tests."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import pytest

import depyf
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import memory
import memory_shapes

SAMPLE = ["breaks_with_del", "many_locals", "branches", "contexts", "outputs", "nested_calls"]


@pytest.mark.parametrize(
    ("shape", "gradients"),
    [
        pytest.param(shape, gradients, marks=() if gradients == (index % 2 == 0) else pytest.mark.long)
        for index, shape in enumerate(SAMPLE)
        for gradients in (False, True)
    ],
)
def test_peak(shape, gradients):
    row = memory.measure(shape, memory_shapes.SHAPES[shape], "eager", gradients)
    assert row.plain.peak >= 2 * 4 * memory_shapes.SIZE
    assert row.running == row.frames > 1
    assert row.is_right, row


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_peak_on_other_backends(backend):
    row = memory.measure("breaks_with_del", memory_shapes.SHAPES["breaks_with_del"], backend, True)
    assert row.running == row.frames > 1
    assert row.is_right, row


def test_peaks_are_exact():
    def call():
        first = torch.ones(1000)
        second = first.neg()
        del first
        return second.sum()

    assert memory.peaks_of(call).peak == 2 * 4000
    assert memory.peaks_of(lambda: kept.append(torch.ones(10))).left == 40


kept: list[torch.Tensor] = []


def test_what_keeps_a_value_is_seen(monkeypatch, tmp_path):
    """Tests that the measurement fails if the prover ignores lifetimes, because the readable source at a graph break
    keeps a value that the bytecode deletes."""
    prove = depyf.proof.prove

    def loose(one, two, *, lifetimes=True, **options):
        return prove(one, two, lifetimes=False, **options)

    from depyf import decompilation, running

    monkeypatch.setattr(decompilation._Checked, "released", lambda self, parameters: self)
    monkeypatch.setattr(decompilation.Decompilation, "can_run", property(lambda self: self.proved))
    monkeypatch.setattr(running, "prove", loose)
    row = memory.measure("breaks_with_del", memory_shapes.SHAPES["breaks_with_del"], "eager", False)
    assert row.running == row.frames
    assert row.ratio > 1.5


def frames_and_texts(function, backend, directory, *args):
    torch._dynamo.reset()
    with depyf.prepare_debug(directory) as session:
        result = torch.compile(function, backend=backend)(*args)
    frames = [frame for frame in session.frames if frame.status == "compiled"]
    return result, frames, {frame.function: (directory / frame.transformed_file).read_text() for frame in frames}


def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def test_the_outputs_of_a_graph_are_unpacked(tmp_path):
    _, frames, texts = frames_and_texts(toy_example, "eager", tmp_path, torch.randn(10), torch.ones(10))
    lines = texts["toy_example"].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("def "))
    last = max(number for number, line in enumerate(lines) if line.lstrip().startswith("return "))
    assert last - first - 1 <= 8
    assert "    lt, x = __compiled_fn_" in texts["toy_example"]
    assert "# relies on: __compiled_fn_" in texts["toy_example"]
    assert "compiled_fn_1 = " not in texts["toy_example"]
    assert all(frame.running for frame in frames)


def test_a_method_whose_object_is_needed_no_more_gets_a_name(tmp_path):
    class Scales(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(4))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            if x.abs().max().item() > 1e4:
                print("large")
            return x

    with depyf.prepare_debug(tmp_path) as session:
        torch.compile(Scales(), backend="eager")(torch.ones(2, 4))
    source = (tmp_path / session.frames[0].transformed_file).read_text()
    lines = [line.strip() for line in source.splitlines()]
    assert "# proved equivalent to the bytecode that Dynamo made; runs from this file" in lines
    at = next(index for index, line in enumerate(lines) if line.endswith(".item"))
    output = lines[at].removeprefix("item = ").removesuffix(".item")
    assert lines[at : at + 2] == [f"item = {output}.item", f"del {output}"] and lines[at + 2].endswith(" = item()")
    assert ":=" not in source and max(len(line) for line in lines if not line.startswith("#")) <= 120
    deleted = [name for line in lines if line.startswith("del ") for name in line.removeprefix("del ").split(", ")]
    assert len(deleted) == len(set(deleted)) > 10


@pytest.mark.parametrize("wraps", [False, True])
def test_a_backend_of_the_users_may_return_what_it_likes(wraps, tmp_path):
    """A backend that returns more items than the graph has outputs works with plain Dynamo, which takes items one by
    one."""

    def backend(graph, inputs):
        def run(*args):
            return [*graph.forward(*args), "more"]

        return functools.wraps(graph.forward)(run) if wraps else run

    a, b = torch.randn(10), torch.ones(10)
    result, frames, texts = frames_and_texts(toy_example, backend, tmp_path, a, b)
    assert torch.equal(result, toy_example(a, b))
    assert "graph_out_0[1]" in texts["toy_example"] and "relies on" not in texts["toy_example"]
    assert all(frame.running for frame in frames)


def test_source_that_is_only_shown_says_what_it_keeps():
    code = compile("def f(a):\n    g(a + 1)\n    h()\n", "f.py", "exec").co_consts[0]
    from depyf import decompilation

    assert decompilation.decompile(code).keeps == ""
    result = decompilation.decompile(code, style="exact")
    assert result.proved and not result.can_run
    assert result.source.splitlines()[1].startswith("# keeps values alive longer than the bytecode: ")
