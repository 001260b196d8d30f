"""Checks the artifacts of each of 24 kinds of compilation, file by file."""

from __future__ import annotations

import inspect
import itertools
import re

import pytest

import depyf
import torch
from torch_helpers import BACKENDS, check_dump, names_in, runs_in

CAPTURED = ["Captured_Graph.0.py"]
INFERENCE = CAPTURED + ["Forward_graph.0.py"]
TRAINING = CAPTURED + ["Joint_graph.0.py", "Forward_graph.0.py", "Backward_graph.0.py"]
PRE_GRAD = ["BEFORE_PRE_GRAD.0.py", "AFTER_PRE_GRAD.0.py"]


def inductor(n):
    """Returns the files of the n-th graph that Inductor compiles."""
    return [
        f"BEFORE_POST_GRAD.{n}.py",
        f"AFTER_POST_GRAD.{n}.py",
        f"ir_pre_fusion.{n}.txt",
        f"ir_post_fusion.{n}.txt",
        f"kernel_{n}.py",
    ]


# (backend, with gradients) -> the files of `__compiled_fn_N`
TABLE = {
    ("eager", False): CAPTURED,
    ("eager", True): CAPTURED,
    ("aot_eager", False): INFERENCE,
    ("aot_eager", True): TRAINING,
    ("inductor", False): INFERENCE + PRE_GRAD + inductor(0),
    ("inductor", True): TRAINING + PRE_GRAD + inductor(0) + inductor(1),
}


def function(x, y):
    return (x * y).sin() + x


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(4))

    def forward(self, x, y):
        return (x * y).cos() * self.scale


def name_of(placeholder):
    """Returns the argument or parameter of a graph's input: `x` for `L_x_`, `scale` for `L_self_parameters_scale_`."""
    return placeholder.strip("_").split("_")[-1]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("kind", "dynamic", "grad"), list(itertools.product(("function", "module"), (False, True), (False, True)))
)
def test_artifacts(backend, kind, dynamic, grad, tmp_path):
    plain = function if kind == "function" else Module()
    compiled = torch.compile(plain, backend=backend, dynamic=dynamic)
    x, y = torch.randn(6, 4, requires_grad=grad), torch.randn(6, 4)
    with torch.set_grad_enabled(grad), depyf.prepare_debug(tmp_path) as session:
        result = compiled(x, y)
        if grad:
            result.sum().backward()
    torch.testing.assert_close(result, plain(x, y))

    (frame,) = session.frames
    name = "function" if kind == "function" else "forward"
    prefix = f"__compiled_fn_{frame.compiled_fn}."
    expected = [prefix + file for file in TABLE[backend, grad]]
    expected += [
        f"__transformed_code_0_for_{name}.py",
        f"__guards_0_for_{name}.py",
        f"full_code_for_{name}_0.py",
        f"compilation_{frame.compile_id.replace('/', '_')}.md",
        "index.md",
        "session.json",
        "times.json",
    ]
    expected += ["provenance.json"] if backend != "eager" else []
    expected += ["provenance.md"] if backend == "inductor" else []
    assert names_in(tmp_path) == sorted(expected)
    assert frame.missing == []
    check_dump(tmp_path)
    assert runs_in(tmp_path) == [session.to_dict()]

    # The number of the graph is the number in the name that the code calls.
    transformed = (tmp_path / f"__transformed_code_0_for_{name}.py").read_text()
    assert set(re.findall(r"__compiled_fn_\w+", transformed)) == {f"__compiled_fn_{frame.compiled_fn}"}

    # Each graph is a module with dtypes, shapes and strides, which are symbolic if the sizes are dynamic.
    for graph in tmp_path.glob("__compiled_fn_*.*.py"):
        if ".kernel_" in graph.name:
            continue
        text = graph.read_text()
        assert "\nclass GraphModule(torch.nn.Module):\n" in text
        assert ("f32[6, 4][4, 1]cpu" in text) is not dynamic, text
        assert bool(re.search(r"f32\[s\d+, ", text)) is dynamic, text

    # The captured graph runs from its file.
    namespace = {}
    exec((tmp_path / f"{prefix}Captured_Graph.0.py").read_text(), namespace)
    inputs = {"x": x, "y": y, "scale": getattr(plain, "scale", None)}
    names = [n for n in inspect.signature(namespace["GraphModule"].forward).parameters if n != "self"]
    if not dynamic:  # with dynamic sizes, the sizes are inputs too
        torch.testing.assert_close(namespace["GraphModule"]()(*(inputs[name_of(n)] for n in names))[0], result)

    # The forward and the backward graph have the same number, and different files.
    if grad and backend != "eager":
        assert "tangents_1" in (tmp_path / f"{prefix}Backward_graph.0.py").read_text()
        assert "tangents_1" not in (tmp_path / f"{prefix}Forward_graph.0.py").read_text()
    if grad and backend == "inductor":
        for kind_of_file in ("kernel", "BEFORE_POST_GRAD", "AFTER_POST_GRAD", "ir_pre_fusion", "ir_post_fusion"):
            by_direction = {a.direction: a.file for a in frame.artifacts if a.kind == kind_of_file}
            assert sorted(by_direction) == ["backward", "forward"]
            if kind_of_file.endswith("GRAD"):
                assert "tangents_1" in (tmp_path / by_direction["backward"]).read_text()
                assert "tangents_1" not in (tmp_path / by_direction["forward"]).read_text()

    # The full_code file has the function's source, code, graph and guards.
    story = (tmp_path / f"full_code_for_{name}_0.py").read_text()
    parts = [
        f"def {name}(",
        f"def __transformed_code_0_for_{name}(",
        f"class __compiled_fn_{frame.compiled_fn}(torch.nn.Module):",
        f"# Guards: the code above runs if all of these conditions hold; __guards_0_for_{name}.py contains them as a function.",
        "x is a tensor like the one that was seen: torch.Tensor",
    ]
    places = [story.index(part) for part in parts]
    assert places == sorted(places)


def test_output_code_that_comes_from_a_cache_is_not_compiled_again(tmp_path, monkeypatch):
    """Compiling a text of output code takes longer than writing its file, and PyTorch has compiled this text."""
    from depyf.dump import artifacts

    def scaled(x):
        return (x * 3.25).sin()

    caches = torch._inductor.config.patch(force_disable_caches=False, fx_graph_cache=True)
    with torch._inductor.utils.fresh_inductor_cache(), caches:
        torch.compile(scaled)(torch.ones(8))
        torch._dynamo.reset()
        checked = []
        compiles = artifacts.compiles
        monkeypatch.setattr(artifacts, "compiles", lambda text: checked.append(text) or compiles(text))
        with depyf.prepare_debug(tmp_path) as session:
            torch.compile(scaled)(torch.ones(8))
    assert session.frames[0].files("kernel")
    assert not any("async_compile" in text for text in checked)
