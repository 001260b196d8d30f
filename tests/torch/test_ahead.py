"""Tests of `decompile`, `explain` and `prepare_debug` on functions that were compiled ahead of time, in the process
that loaded them."""

from __future__ import annotations

import copy
import io
import json
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

import depyf
import torch
from depyf import _core
from depyf.cli import main
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
    with torch._functorch.config.patch(enable_autograd_cache=True):  # the fixture `fresh_torch` switches the cache off
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


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_block_records_what_is_loaded(tmp_path, backend):
    result = compiled(backend)
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
    assert [artifact.kind for artifact in frame.artifacts] == (["Forward_graph"] if backend == "aot_eager" else [])
    assert not session.other_artifacts
    assert frame.running
    torch.testing.assert_close(served(*INPUTS), result(*INPUTS), rtol=0, atol=0)


def test_a_file_that_cannot_be_loaded_leaves_the_block_unharmed(tmp_path):
    result = compiled()
    result.save_compiled_function(str(tmp_path / "saved"))
    with depyf.prepare_debug(tmp_path / "dump") as session:
        with pytest.raises(Exception, match=r"pickle|truncated"):
            torch.compiler.load_compiled_function(io.BytesIO((tmp_path / "saved").read_bytes()[:500]))
        torch.compile(function, backend="eager")(*INPUTS)
    assert [frame.compile_id.startswith("ahead") for frame in session.frames] == [False]


def only_tensors(guards):
    return [guard.guard_type == "TENSOR_MATCH" and guard.name == "x" for guard in guards]


def test_what_a_filter_dropped_is_said_with_its_meaning(tmp_path):
    with depyf.prepare_debug(tmp_path) as session:
        with torch._functorch.config.patch(enable_autograd_cache=True):
            result = torch.compile(
                function, fullgraph=True, backend="eager", options={"guard_filter_fn": only_tensors}
            ).aot_compile((INPUTS, {}))
    (frame,) = session.frames
    said = " ".join(frame.unchecked)
    assert "on y: a call with another dtype, device, size or requires_grad will not be noticed" in said
    assert "a call in another grad mode will not be noticed" in said
    assert "on torch" in said
    assert "that another object is in its place will not be noticed" in said
    assert "on x" not in said
    page = (tmp_path / "compilation_0_0.md").read_text()
    assert "a call with another dtype" in page
    (entry,) = depyf.explain(result).entries
    assert entry.unchecked == frame.unchecked
    assert "A filter dropped the guard on y" in str(depyf.explain(result))


def test_what_no_guard_is_about_is_said_without_a_block(tmp_path):
    with torch._functorch.config.patch(enable_autograd_cache=True):
        result = torch.compile(
            function, fullgraph=True, backend="eager", options={"guard_filter_fn": only_tensors}
        ).aot_compile((INPUTS, {}))
    said = " ".join(depyf.explain(loaded(result, tmp_path / "saved")).entries[0].unchecked)
    assert "No guard checks y: a call with another value, dtype" in said
    assert "No guard checks the globals torch" in said
    assert "No guard checks x" not in said


def test_debug_step_and_here_reach_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    with depyf.prepare_debug(tmp_path):
        result = compiled()
    with depyf.debug():
        torch.testing.assert_close(result(*INPUTS), function(*INPUTS), rtol=0, atol=0)
    assert "transformed code, function, compilation 0/0" in capsys.readouterr().out
    stops = []
    with depyf.step(result, callback=lambda stop: stops.append((stop, depyf.here(stop.frame))) or "c"):
        result(*INPUTS)
    (stop, place) = stops[0]
    assert stop.frame.f_code.co_filename.endswith("for_function.py")
    assert (place.function, place.compile_id, place.guards_held, place.guards_hold) == ("function", "0/0", True, True)
    assert "L['x']" in place.entry.guards


# The toolkit


def test_entries_are_checked_run_and_dispatched():
    result = compiled()
    (entry,) = depyf.cache_entries(result)
    assert entry.kind == "ahead of time"
    assert entry.check(*INPUTS)
    report = entry.check(INPUTS[0].double(), INPUTS[1])
    assert "torch.float64" in str(report)
    torch.testing.assert_close(entry.run(*INPUTS), result(*INPUTS), rtol=0, atol=0)
    (graph,) = entry.graphs
    assert [source for _, source in graph.placeholders] == ["L['x']", "L['y']"]
    assert depyf.dispatch(result, *INPUTS).action == "would run the ahead of time entry"
    assert "compiles nothing for a call" in depyf.dispatch(result, torch.ones(1, 4), INPUTS[1]).action
    with pytest.raises(ValueError, match="nothing to register it in front of"):
        entry.register()
    with pytest.raises(ValueError, match="was not compiled ahead of time"):
        depyf.new_entry(function).save_compiled_function("nowhere")


def test_a_model_has_an_entry_for_each_input():
    from torch._dynamo.aot_compile import ModelInput

    module = Model()
    model = torch.compile(module, fullgraph=True, backend="eager")
    model._aot_compile([ModelInput((torch.ones(rows, 4),), {}, []) for rows in (2, 3)])
    first, second = depyf.cache_entries(model)
    x = torch.ones(2, 4)
    assert first.check(x)
    assert not first.check(torch.ones(3, 4))
    assert second.check(torch.ones(3, 4))
    torch.testing.assert_close(first.run(x), module(x), rtol=0, atol=0)


def _accepts(served, *inputs):
    try:
        served(*inputs)
    except RuntimeError:
        return False
    return True


X, Y = INPUTS
OTHERS = {
    "same": (X, Y),
    "dtype of x": (X.double(), Y),
    "dtype of y": (X, Y.double()),
    "rows": (torch.ones(5, 4), torch.ones(5, 4)),
    "one tensor twice": (X, X),
    "grad": (X.clone().requires_grad_(), Y),
}
EDITS = {
    "drop y": ({"drop": "L['y']"}, {"same", "dtype of y", "one tensor twice"}),
    "drop a guard": (
        {"drop": lambda guard: guard.source == "L['x']" and guard.kind == "TENSOR_MATCH"},
        {"same", "dtype of x", "grad"},
    ),
    "drop a relation": ({"drop": lambda guard: guard.kind == "NO_TENSOR_ALIASING"}, {"same", "one tensor twice"}),
    "relax": ({"relax": {"L['x']": 0, "L['y']": 0}}, {"same", "rows"}),
    "add": ({"add": "float(L['y'].sum()) > 100"}, set()),
    "replace": ({"replace": {"L['y']": "L['y'].dtype == torch.float64"}}, {"dtype of y"}),
}


@pytest.mark.parametrize("name", EDITS)
def test_edited_guards_are_saved_and_loaded_by_torch(tmp_path, name):
    edit, accepted = EDITS[name]
    (entry,) = depyf.cache_entries(compiled())
    edited = entry.edit(**edit)
    edited.save_compiled_function(tmp_path / "edited")
    torch._dynamo.reset()
    with open(tmp_path / "edited", "rb") as file:
        served = torch.compiler.load_compiled_function(file, f_globals=globals())
    verdicts = {kind for kind, inputs in OTHERS.items() if _accepts(served, *inputs)}
    assert verdicts == accepted
    assert verdicts == {kind for kind, inputs in OTHERS.items() if edited.check(*inputs)}
    text, _, whole = _core.open_artifact(str(tmp_path / "edited"), [], True)
    assert whole
    namespace = {}
    exec(json.loads(text)["artifacts"][0]["parts"][0]["guard_source"], namespace)
    shown = {
        kind
        for kind, inputs in OTHERS.items()
        if namespace["guards"](served.prepare_f_locals(*inputs), served.fn.__globals__)
    }
    assert shown == accepted


def test_edited_code_and_graphs_are_saved_and_loaded_by_torch(tmp_path):
    (entry,) = depyf.cache_entries(compiled())
    source = entry.source.replace("[0]\n", "[0] + 1\n")
    entry.edit(source=source).save_compiled_function(tmp_path / "code")
    graph = copy.deepcopy(entry.graphs[0].graph_module)
    for node in graph.graph.nodes:
        if node.target == "sin":
            node.target = "cos"
    entry.edit(graph=graph).save_compiled_function(tmp_path / "graph")
    wanted = {"code": function(*INPUTS) + 1, "graph": torch.relu((X.cos() + Y) * 2)}
    for name, value in wanted.items():
        with open(tmp_path / name, "rb") as file:
            served = torch.compiler.load_compiled_function(file, f_globals=globals())
        torch.testing.assert_close(served(*INPUTS), value, rtol=0, atol=0)
    assert main(["open", str(tmp_path / "code"), str(tmp_path / "graph")]) == 1


def test_why_something_cannot_be_saved_is_said(tmp_path):
    (entry,) = depyf.cache_entries(compiled())
    with pytest.raises(ValueError, match="has guards as data: give it as an expression"):
        entry.edit(add=lambda L: True).save_compiled_function(tmp_path / "file")
    with pytest.raises(ValueError, match="in the place of the graph stands a callable"):
        entry.edit(graph=lambda x, y: (x,)).save_compiled_function(tmp_path / "file")
    source = entry.source.replace("[0]\n", "[0] + other\n")
    with pytest.raises(ValueError, match=r"PyTorch cannot save this entry: .*lock"):
        entry.edit(source=source, bind={"other": threading.Lock()}).save_compiled_function(tmp_path / "file")
    assert not (tmp_path / "file").exists()


def broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y * 2


def restored(path):
    """Compiles and saves `broken`, resets Dynamo, and returns `broken` under torch.compile, and the saved compilations,
    which the caller installs."""
    from torch._dynamo.package import CompilePackage, DiskDynamoStore

    store = DiskDynamoStore(str(path))
    package = CompilePackage(broken)
    torch._dynamo.optimize("eager", package=package, guard_filter_fn=torch.compiler.keep_portable_guards_unsafe)(
        broken
    )(X)
    for name, backend in package.cached_backends.items():
        store.record_eager_backend(name, backend)
    store.save_package(package, "key")
    torch._dynamo.reset()
    package, backends = store.load_package(broken, "key")
    return torch._dynamo.optimize("eager", package=package)(broken), lambda: package.install(backends)


def test_entries_that_torch_restores_are_shown(tmp_path):
    compiled_function, install = restored(tmp_path / "saved")
    with depyf.prepare_debug(tmp_path / "dump") as session:
        install()
        with torch.compiler.set_stance("fail_on_recompile"):
            torch.testing.assert_close(compiled_function(X), broken(X), rtol=0, atol=0)
    assert [(frame.status, frame.proved) for frame in session.frames] == [("compiled before", True)] * 2
    assert "was restored from Dynamo's cache of an earlier process" in session.notes[0]
    assert [frame.resume_name for frame in session.frames] == [None, session.frames[0].resume_calls[0]]
    explained = depyf.explain(compiled_function)
    (entry,) = explained.entries
    assert "restored from Dynamo's cache" in entry.why[0]
    assert entry.proved
    (resumed,) = entry.resumes[0].explanation.entries
    assert "__compiled_fn" in resumed.code
    (cached,) = depyf.cache_entries(compiled_function)
    assert cached.kind == "loaded"
    assert "__resume_at" in cached.source
    torch.testing.assert_close(cached.run(X), broken(X), rtol=0, atol=0)
    assert depyf.dispatch(compiled_function, X).action == "would run the loaded entry"


def test_restored_entries_are_shown_without_a_block(tmp_path):
    compiled_function, install = restored(tmp_path / "saved")
    install()
    (entry,) = depyf.explain(compiled_function).entries
    assert "__resume_at" in entry.code
    assert entry.resumes[0].explanation.entries[0].compile_id == "restored/0"
    assert depyf.cache_entries(compiled_function)[0].check(X)


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


def step(model, x):
    return model(x).sum(-1)


@pytest.mark.skipif(
    not hasattr(torch.compiler, "precompile"), reason="torch.compiler.precompile came with PyTorch 2.15"
)
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_what_precompile_captures_is_recorded(tmp_path, backend):
    from torch.compiler import precompile

    model, x = torch.nn.Linear(4, 3), torch.randn(2, 4)
    files = str(tmp_path / "step.py"), str(tmp_path / "step.cache")
    with depyf.prepare_debug(tmp_path / "dump") as session:
        with precompile.capture(step, artifact_path=files[0], cache_path=files[1], backend=backend) as capture:
            captured = capture(model, x)
    with depyf.prepare_debug(tmp_path / "loading"):
        loaded = precompile.load(*files)
        result = loaded(model, x)
    assert torch.equal(captured, step(model, x)) and torch.allclose(result, captured)
    (frame,) = session.frames
    assert (frame.compile_id, frame.function, frame.status) == ("precompile/0", "step", "compiled")
    kinds = {artifact.kind for artifact in frame.artifacts}
    assert "Forward_graph" in kinds and ("kernel" in kinds) == (backend == "inductor")
    assert not session.other_artifacts and not any("works with a fallback" in note for note in session.notes)
    assert "without Dynamo" in str(depyf.explain(loaded))
    assert "def forward(*args)" in depyf.decompile(loaded)
    assert main(["open", files[0]]) == 0
