"""What was compiled ahead of time, alive: `decompile`, `explain`, and `prepare_debug` around it."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import depyf
import torch
from depyf.guards import read
from torch_helpers import BACKENDS, ENVIRONMENT

pytest.importorskip("torch._dynamo.aot_compile")


def function(x, y):
    z = x.sin() + y
    if z.shape[0] > 3:
        z = z * 2
    return torch.relu(z)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Holder:
    def __init__(self):
        self.factor = 3

    def method(self, x):
        return x * self.factor


INPUTS = (torch.ones(4, 4), torch.ones(4, 4))


def compiled(backend="eager", fn=function, inputs=INPUTS):
    with torch._functorch.config.patch(enable_autograd_cache=True):  # which `fresh_torch` switches off
        return torch.compile(fn, fullgraph=True, backend=backend).aot_compile((inputs, {}))


def loaded(result, path):
    result.save_compiled_function(str(path))
    torch._dynamo.reset()
    with open(path, "rb") as file:
        return torch.compiler.load_compiled_function(file, f_globals=globals())


def test_decompile_shows_the_transformed_code(tmp_path):
    result = compiled()
    for each in (result, loaded(result, tmp_path / "saved")):
        source = depyf.decompile(each)
        assert source.startswith("# proved equivalent to the bytecode")
        assert "def function(x, y):" in source
        assert "__compiled_fn_" in source


def test_explain_shows_code_guards_and_graph(tmp_path):
    result = compiled()
    for each in (result, loaded(result, tmp_path / "saved")):
        explanation = depyf.explain(each)
        (entry,) = explanation.entries
        assert explanation.function == "function"
        assert entry.backend == "eager"
        assert entry.proved
        assert "ahead of time" in entry.why[0]
        assert "L['x'].size() == (4, 4)" in entry.guards
        namespace = {}
        exec(entry.guards, namespace)
        scope = each.prepare_f_locals(*INPUTS)
        assert namespace["guard_0"](scope, {}) == each.guard_check(*INPUTS)
        assert not namespace["guard_0"]({**scope, "x": torch.ones(3, 4)}, {})
        (graph,) = entry.graphs
        assert "sin" in graph.source


def test_a_bound_method_and_a_model():
    method = compiled(fn=Holder().method, inputs=(torch.ones(4),))
    assert "def method(self, x):" in depyf.decompile(method)
    (entry,) = depyf.explain(method).entries
    assert "factor" in entry.guards
    from torch._dynamo.aot_compile import ModelInput

    model = torch.compile(Model(), fullgraph=True, backend="eager")
    model._aot_compile([ModelInput((torch.ones(rows, 4),), {}, []) for rows in (2, 3)])
    explanation = depyf.explain(model)
    assert [entry.compile_id for entry in explanation.entries] == ["ahead/0", "ahead/1"]
    assert "(2, 4)" in explanation.entries[0].guards
    assert "L['x'].size()" in explanation.entries[1].guards
    assert "def forward(self, x):" in depyf.decompile(model.forward)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_block_records_it_as_any_other_compilation(tmp_path, backend):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="depyf")
        with depyf.prepare_debug(tmp_path) as session:
            result = compiled(backend)
    torch.testing.assert_close(result(*INPUTS), function(*INPUTS))
    (frame,) = session.frames
    assert frame.status == "compiled"
    assert frame.proved
    assert frame.name == "function"
    assert frame.guards
    assert "ahead of time" in frame.notes[0]
    assert not session.other_artifacts
    assert not list(tmp_path.glob("__no_compile_id*"))
    text = (tmp_path / frame.transformed_file).read_text()
    assert "__compiled_fn_" in text
    guards_text = (tmp_path / frame.guards_file).read_text()
    assert "L['x']" in guards_text
    kinds = {artifact.kind for artifact in frame.artifacts}
    assert "Captured_Graph" in kinds
    assert ("kernel" in kinds) == (backend == "inductor")
    assert "function" in (tmp_path / "index.md").read_text()
    assert read(result._artifacts.guard_manager) is not None


def test_a_block_records_what_is_loaded(tmp_path):
    result = compiled()
    result.save_compiled_function(str(tmp_path / "saved"))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="depyf")
        with depyf.prepare_debug(tmp_path / "dump") as session, open(tmp_path / "saved", "rb") as file:
            served = torch.compiler.load_compiled_function(file, f_globals=globals())
            torch.testing.assert_close(served(*INPUTS), function(*INPUTS))
    (frame,) = session.frames
    assert (frame.compile_id, frame.status, frame.name) == ("ahead/0", "compiled before", "function")
    assert frame.proved
    assert "L['x']" in (tmp_path / "dump" / frame.guards_file).read_text()
    assert depyf.explain(served).entries[0].compile_id == "ahead/0"


def test_a_failure_leaves_nothing_behind(tmp_path):
    def fails(x):
        torch._dynamo.graph_break()
        return x + 1

    with depyf.prepare_debug(tmp_path) as session:
        with pytest.raises(Exception, match="graph_break"):
            compiled(fn=fails, inputs=(torch.ones(2),))
        torch.compile(function, backend="eager")(*INPUTS)
    assert [frame.status for frame in session.frames][-1] == "compiled"
    assert session.frames[-1].name == "function"
    assert not session.frames[-1].notes


SERVER = """
import sys
from pathlib import Path
import torch
import depyf

def function(x, y):
    return torch.relu(x.sin() + y) * 2

path, debug = Path(sys.argv[2]), sys.argv[3]
inputs = torch.linspace(0, 1, 16).reshape(4, 4), torch.ones(4, 4)
if sys.argv[1] == "save":
    def work():
        compiled = torch.compile(function, fullgraph=True, backend="aot_eager").aot_compile((inputs, {}))
        compiled.save_compiled_function(str(path))
        return compiled(*inputs)
else:
    def work():
        with open(path, "rb") as file:
            return torch.compiler.load_compiled_function(file)(*inputs)
if debug == "none":
    result = work()
else:
    with depyf.prepare_debug(debug):
        result = work()
print(result.flatten().tolist())
"""


def test_one_process_compiles_and_another_serves(tmp_path):
    def run(half, debug):
        command = [sys.executable, "-c", SERVER, half, str(tmp_path / "model"), str(debug)]
        return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True, cwd=tmp_path).stdout

    expected = run("save", "none")
    assert run("load", "none") == expected
    plain = (tmp_path / "model").stat().st_size
    assert run("save", tmp_path / "saving") == expected
    assert abs((tmp_path / "model").stat().st_size - plain) < 200
    assert run("load", tmp_path / "loading") == expected
    assert list((tmp_path / "saving").glob("__transformed_code_*_for_function.py"))
    (transformed,) = (tmp_path / "loading").glob("__transformed_code_*_for_function.py")
    assert "__compiled_fn_" in transformed.read_text()
    assert list((tmp_path / "loading").glob("__guards_*_for_function.py"))
    assert "was loaded from a file of `aot_compile`" in (tmp_path / "loading" / "index.md").read_text()
    assert Path(tmp_path / "saving" / "index.md").read_text().count("proved") == 1
