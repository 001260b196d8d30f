"""Tests that users of the older depyf need not change their code: its names, signatures and files exist, and vLLM's
uses of them work."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import types
from pathlib import Path

import pytest
from functorch.compile import aot_module, nop
from torch._dynamo.utils import lazy_format_graph_code
from torch.fx.passes.split_module import split_module

import depyf
import depyf.decompiler
import depyf.utils
import torch
from depyf.optimization import TorchCompileWrapperWithCustomDispatcher
from torch_helpers import ENVIRONMENT, bytecode_hook, check_dump, hooks, names_in


def parameters(function):
    return list(inspect.signature(function).parameters)


def test_signatures():
    assert {"install", "uninstall", "prepare_debug", "debug", "decompile", "Decompiler"} <= set(dir(depyf))
    with pytest.raises(TypeError):
        depyf.prepare_debug()
    inspect.signature(depyf.prepare_debug).bind(dump_src_dir="x", clean_wild_fx_code=True, log_bytecode=False)
    inspect.signature(depyf.prepare_debug).bind("x", clean_wild_fx_code=False)
    for more in ((True,), (False, True), (0, 1)):  # the arguments may be positional too
        depyf.prepare_debug("x", *more)
    for wrong in ((True,), ("x", True, False, True), (test_signatures, True), ("x", "y", "z")):
        with pytest.raises(TypeError):
            depyf.prepare_debug(*wrong)
    assert parameters(depyf.debug) == [] and parameters(depyf.install) == [] and parameters(depyf.uninstall) == []
    assert parameters(depyf.Decompiler.decompile) == ["self", "indentation", "temp_prefix", "overwite_fn_name"]
    assert parameters(depyf.Decompiler.decompile_and_compile_like) == [
        *("code_to_decompile", "reference_code", "indentation", "temp_prefix", "filepath_template")
    ]
    error = depyf.decompiler.DecompilationError("why")
    assert error.message == "why" and str(error) == "DecompilationError: why"
    assert isinstance(depyf.__version__, str)


def sample(a, b, /, c, *rest, d=1, **named):
    def inner(x):
        return x + a

    return inner(b) + c + d


def test_decompiler_has_its_methods():
    decompiler = depyf.Decompiler(sample)
    source = decompiler.decompile(overwite_fn_name="other")
    assert source == depyf.Decompiler(sample.__code__).decompile(overwite_fn_name="other")
    assert "def other(a, b, /, c, *rest" in source
    names = depyf.Decompiler.supported_opnames()
    assert {"LOAD_FAST", "RETURN_VALUE"} <= set(names)
    made = depyf.Decompiler.decompile_and_compile_like(sample.__code__, sample.__code__)
    assert types.FunctionType(made, globals())(1, 2, 3, d=4) == sample(1, 2, 3, d=4)


def test_utils(tmp_path):
    code = sample.__code__
    assert depyf.utils.get_function_signature(code) == "def sample(a, b, /, c, *rest, d, **named):\n"
    assert depyf.utils.get_function_signature((lambda *, k: k).__code__, "f") == "def f(*, k):\n"
    assert [one.co_name for one in depyf.utils.collect_all_code_objects(code)] == ["sample", "inner"]
    depyf.utils.safe_create_directory(str(tmp_path / "a" / "b"))
    depyf.utils.safe_create_directory(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()
    assert depyf.utils.get_code_owner(depyf.Session.to_dict).__code__ is depyf.Session.to_dict.__code__
    import functools

    class Called:
        def __call__(self):
            return 1

    assert depyf.utils.get_code_owner(functools.partial(sample, 1)) is sample
    assert depyf.utils.get_code_owner(Called()).__code__ is Called.__call__.__code__
    assert depyf.utils.get_code_owner(len) is len
    assert "def renamed(" in depyf.utils.decompile_ensure(code, "renamed")


@pytest.mark.parametrize(("value", "temporaries"), [("0", True), ("1", False)])
def test_the_older_switch_for_temporaries(value, temporaries, monkeypatch):
    def calls(a, b):
        return a(b(1), b(2))

    monkeypatch.setenv("DEPYF_REMOVE_TEMP", value)
    exact = depyf.decompile(calls, style="exact")
    assert (depyf.decompile(calls) == exact) is temporaries
    assert exact != depyf.decompile(calls, style="readable")


class Dispatched(TorchCompileWrapperWithCustomDispatcher):
    def __init__(self, scale, backend="eager"):
        self.scale = scale
        self.calls = 0
        super().__init__(torch.compile(self.forward, backend=backend, dynamic=False))

    def forward(self, x):
        return (x + x.shape[0]) * self.scale

    def __call__(self, x):
        index = 0 if x.shape[0] == 2 else 1
        if index >= len(self.compiled_codes):
            return self.compiled_callable(x)
        self.calls += 1
        with self.dispatch_to_code(index):
            return self.forward(x)


@pytest.mark.parametrize("under_depyf", [False, True])
def test_custom_dispatcher(under_depyf, tmp_path):
    import contextlib

    before = hooks()
    own = Dispatched.forward.__code__
    with depyf.prepare_debug(str(tmp_path)) if under_depyf else contextlib.nullcontext():
        one, other = Dispatched(2.0), Dispatched(3.0)
        for size in (2, 5, 2, 5):
            assert torch.equal(one(torch.ones(size)), torch.full((size,), (1.0 + size) * 2))
        assert len(one.compiled_codes) == 2 and one.calls == 2
        assert other.compiled_codes == [] and one.original_code_object is own
        assert other(torch.ones(2)).tolist() == [9.0, 9.0] and len(one.compiled_codes) == 2
        assert len(other.compiled_codes) == 1
    assert Dispatched.forward.__code__ is own
    with pytest.raises(ValueError, match="the user's own"), one.dispatch_to_code(0):
        assert Dispatched.forward.__code__ is one.compiled_codes[0]
        raise ValueError("the user's own")
    assert Dispatched.forward.__code__ is own
    with pytest.raises(IndexError), one.dispatch_to_code(9):
        pass
    with pytest.raises(TypeError):
        TorchCompileWrapperWithCustomDispatcher(None)
    if under_depyf:
        check_dump(tmp_path)
    # Hooks are removed when the wrappers are freed.
    del one, other
    torch._dynamo.reset()
    gc.collect()
    assert hooks() == before


# The code below uses depyf like engines such as vLLM: with a wrapper whose bytecode hook writes transformed code to a
# file, a monitor that calls `__enter__` of prepare_debug, and a backend that splits the graph, logs it under names, and
# compiles the pieces.


class Engine(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.first(x).relu()
        z = torch.softmax(y, -1)  # the backend splits the graph here
        return self.second(z)


class PiecewiseBackend:
    def __init__(self):
        self.pieces = []

    def __call__(self, graph, example_inputs):
        lazy_format_graph_code("before split", graph)
        parts, at = {}, 0
        for node in graph.graph.nodes:
            if node.op in ("placeholder", "output"):
                continue
            if "softmax" in str(node.target):
                parts[node], at = at + 1, at + 2
            else:
                parts[node] = at
        split = split_module(graph, None, lambda node: parts[node], keep_original_order=True)
        lazy_format_graph_code("after split", split)
        self.pieces = [name for name, _ in split.named_children()]
        for name, piece in list(split.named_children()):
            setattr(split, name, Piece(piece))
        return split


class Piece(torch.nn.Module):
    """A piece that is compiled when it is first called."""

    def __init__(self, graph):
        super().__init__()
        self.graph, self.compiled = graph, None

    def forward(self, *args):
        if self.compiled is None:
            self.compiled = aot_module(self.graph, fw_compiler=nop)
        return self.compiled(*args)


def test_an_engine_like_vllm(tmp_path):
    torch.manual_seed(0)
    model, before, written = Engine(), hooks(), []
    x = torch.randn(3, 4)
    expected = model(x)
    path = tmp_path / "transformed_code.py"

    def hook(old_code, new_code):
        if old_code is not Engine.forward.__code__:
            return
        written.append(new_code)
        path.write_text(depyf.decompile(new_code))

    dump = str(tmp_path / "depyf" / "rank_0")
    monitor = depyf.prepare_debug(dump)
    monitor.__enter__()
    backend = PiecewiseBackend()
    with bytecode_hook(hook), torch.no_grad():
        results = [torch.compile(model, backend=backend, fullgraph=True)(x) for _ in range(2)]
    monitor.__exit__(None, None, None)
    assert all(torch.allclose(one, expected) for one in results)
    assert len(backend.pieces) == 3 and hooks() == before
    # The file that the hook wrote is valid Python, and is proved equivalent.
    (code,) = written
    assert "def forward(self, x):" in path.read_text() and "__compiled_fn_" in path.read_text()
    assert depyf.prove(code, depyf.compile_like(path.read_text(), code))
    files = names_in(dump)
    (captured,) = [name for name in files if ".Captured_Graph." in name]
    stem = captured.partition(".")[0]
    assert {f"{stem}.before_split.0.py", f"{stem}.after_split.0.py"} <= set(files)
    assert "softmax" in (Path(dump) / f"{stem}.before_split.0.py").read_text()
    assert "submod_1" in (Path(dump) / f"{stem}.after_split.0.py").read_text()
    check_dump(dump)


def test_names_that_no_file_can_have(tmp_path):
    graph = torch.fx.symbolic_trace(lambda x: x * 2)
    (tmp_path / "dump").mkdir()
    with depyf.prepare_debug(tmp_path / "dump") as session:
        for name in ("x" * 400, "é" * 200, "../../up", "", ".", "a/b", "\x00\n", "\ud800"):
            lazy_format_graph_code(name, graph)
    assert len(session.other_artifacts) == 8 and not [note for note in session.notes if "failed" in note]
    assert [one.name for one in tmp_path.iterdir()] == ["dump"]
    check_dump(tmp_path / "dump")


def test_nothing_reaches_the_engine_from_the_hook():
    raised = []

    def hook(old_code, new_code):
        try:
            for style in ("readable", "exact"):
                depyf.decompile(new_code, style=style)
            depyf.Decompiler(new_code).decompile()
            depyf.utils.decompile_ensure(new_code)
        except BaseException as error:
            raised.append(error)

    def breaks(x, items):
        for i in range(3):
            with torch.no_grad():
                items.append(x.sum().item() + i)
        try:
            y = [x * one for one in items]
        finally:
            torch._dynamo.graph_break()
        return y, lambda z: z + y[0]

    with bytecode_hook(hook):
        torch.compile(breaks, backend="eager")(torch.ones(3), [])
        torch.compile(Engine(), backend="eager")(torch.ones(2, 4))
    assert raised == []


def test_install_in_a_program_that_logs_bytecode():
    program = """
import depyf, torch
depyf.install(); depyf.install()
torch.compile(lambda x: x * 2, backend="eager")(torch.ones(3))
depyf.uninstall(); depyf.uninstall()
torch.compile(lambda x: x * 3, backend="eager")(torch.ones(3))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        env={**ENVIRONMENT, "TORCH_LOGS": "+bytecode"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("possible source code:") == 1
