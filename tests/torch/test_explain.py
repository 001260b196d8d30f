"""Tests `depyf.explain`: the facts that it reports about a compiled function, and the parts that it reports as
missing."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import depyf
import torch
from torch_helpers import ENVIRONMENT, example

GOLDEN = Path(__file__).parent / "golden"


def double(x):
    return x * 2


def outer(x):
    return double(x) + 1


def breaks(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()


@pytest.mark.skipif(
    (torch.__version__.partition("+")[0], platform.python_version().rpartition(".")[0]) != ("2.13.0", "3.11"),
    reason="the golden files are those of PyTorch 2.13.0 and CPython 3.11",
)
def test_golden_files(tmp_path):
    program = Path(__file__).parents[1] / "golden_explain.py"
    subprocess.run([sys.executable, str(program), str(tmp_path)], check=True, timeout=300, env=ENVIRONMENT)
    expected = {path.name: path.read_text() for path in GOLDEN.iterdir()}
    assert len(expected) == 3
    again = "it differs; `python tests/golden_explain.py` writes it anew"
    for name, text in expected.items():
        assert (tmp_path / name).read_text() == text, f"{name}: {again}"


def test_after_the_fact_everything_that_is_still_there_is_told():
    compiled = torch.compile(breaks, backend="eager", dynamic=True)
    compiled(torch.ones(3))
    compiled(torch.ones(3, dtype=torch.float64))
    for given in (compiled, breaks):
        found = depyf.explain(given)
        assert len(found.entries) == 2
        first, second = found.entries
        assert [one.compile_id for one in found.entries] == ["0/0", "0/1"]
        assert first.why == ["compiled at the first call"] and second.why[0].startswith(
            "compiled again because, in PyTorch's words, 0/0:"
        )
        assert first.proved and "def breaks(x):" in first.code
        assert "torch.sin" in first.graphs[0].source or ".sin()" in first.graphs[0].source
        (resume,) = first.resumes
        marked = [line for line in resume.source.splitlines() if "<== resume in this line" in line]
        assert len(marked) == 1 and "graph_break()" in marked[0]
        assert len(resume.explanation.entries) == 2 and ".cos()" in resume.explanation.entries[0].graphs[0].source
        assert any("prepare_debug" in one for one in first.missing)
        space = {}
        exec(first.guards, space)
        assert space["guard_0"]({"x": torch.ones(4)}, globals())
        assert not space["guard_0"]({"x": torch.ones(4).double()}, globals())
    assert repr(depyf.explain(compiled)) == (
        "DynamoRunner(function=<breaks>, context=<backend eager, dynamic True>, 2 cache entries)"
    )


def test_what_capture_saw_is_added(tmp_path):
    with depyf.prepare_debug(tmp_path):
        compiled = torch.compile(breaks, backend="aot_eager")
        compiled(torch.ones(3))
    (entry,) = depyf.explain(compiled).entries
    assert entry.missing == [] and entry.seconds > 0
    assert entry.breaks[0].line.line == breaks.__code__.co_firstlineno + 2
    assert "sin()" in entry.graphs[0].source


def test_order_of_the_text(tmp_path):
    toy = example("toy")
    with depyf.prepare_debug(tmp_path):
        toy.main("eager")
    text = str(depyf.explain(toy.toy_example))
    places = [
        "This is a function optimized by Dynamo. It has 1 cache entries.",
        "Cache Entry 1: (compile id 0/0, backend eager",
        "def guard_0(L, G):",
        "def toy_example(a, b):",
        "There are 1 subgraphs in the function:",
        "SubGraph 1: __compiled_fn_",
        "There are 2 resume functions:",
        "Resume function 1: __resume_at_",
        "b = b * -1  # <== resume in this line",
        "    This is a function optimized by Dynamo. It has 1 cache entries.",
        "return x * b  # <== resume in this line",
    ]
    at = 0
    for place in places:
        assert place in text[at:], place
        at = text.index(place, at)


def test_a_function_that_breaks_inside_an_inlined_one():
    def helper(x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

    def caller(x):
        return helper(x).sum()

    torch.compile(caller, backend="eager")(torch.ones(3))
    text = str(depyf.explain(caller))
    assert text.count("<== resume in this line") >= 1


def test_modules_methods_and_closures():
    class Scaled(torch.nn.Module):
        def forward(self, x):
            return x * 3

    module = Scaled()
    compiled = torch.compile(module, backend="eager")
    compiled(torch.ones(2))
    for given in (compiled, module, module.forward, Scaled.forward):
        assert len(depyf.explain(given).entries) == 1


def test_no_entries_and_why(tmp_path):
    assert "never called" in str(depyf.explain(double))
    torch.compile(outer, backend="eager")(torch.ones(3))
    assert "inlined into outer" in str(depyf.explain(double))
    torch._dynamo.reset()

    def fails(graph, inputs):
        raise RuntimeError("no such machine")

    with pytest.raises(Exception, match="no such machine"), depyf.prepare_debug(tmp_path) as session:
        torch.compile(double, backend=fails)(torch.ones(3))
    assert len(session.frames) == 1
    assert "no such machine" in str(depyf.explain(double))
    with pytest.raises(TypeError):
        depyf.explain(3)


def test_a_reset_takes_everything():
    compiled = torch.compile(double, backend="eager")
    compiled(torch.ones(3))
    torch._dynamo.reset()
    assert depyf.explain(compiled).entries == [] and "reset" in str(depyf.explain(compiled))


def test_as_data_and_in_a_notebook():
    compiled = torch.compile(breaks, backend="eager")
    compiled(torch.ones(3))
    found = depyf.explain(compiled)
    data = json.loads(found.to_json())
    assert data["schema_version"] == 1 and data["function"] == "breaks"
    assert data["entries"][0]["resumes"][0]["explanation"]["entries"][0]["compile_id"] == "1/0"
    html = found._repr_html_()
    assert html.count("<details>") == html.count("</details>") > 5
    assert "&lt;" in html and "<script" not in html and "Cache Entry 1" in html


def test_explaining_changes_nothing():
    compiled = torch.compile(breaks, backend="eager")
    x = torch.ones(3)
    before = compiled(x)
    torch._dynamo.utils.counters.clear()
    str(depyf.explain(compiled))
    with torch._dynamo.config.patch(error_on_recompile=True):
        assert torch.equal(compiled(x), before)


def test_a_module_of_pytorch_is_explained_by_its_own_name(tmp_path):
    # Dynamo compiles a wrapper function of its own around a module of PyTorch such as Sequential.
    model = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()), backend="aot_eager")
    with depyf.prepare_debug(tmp_path) as session:
        model(torch.ones(2, 4))
    assert [frame.name for frame in session.frames] == ["Sequential.forward"]
    explanation = depyf.explain(model)
    assert len(explanation.entries) == 1 and explanation.title.startswith("Sequential.forward (container.py:")
    assert "wrap_inline" not in (tmp_path / "index.md").read_text()
