"""Tests that proved code runs from its dumped file under prepare_debug, with bitwise equal results."""

from __future__ import annotations

import copy
import os
import sys
import traceback
from pathlib import Path

import pytest
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd

import depyf
import torch
from depyf import running
from depyf.capture import substitution
from depyf.compat import dynamo
from depyf.provenance import annotate
from torch_helpers import BACKENDS, check_dump, example

CAN_RUN = {
    "eager": {"Captured_Graph"},
    "aot_eager": {"Forward_graph", "Backward_graph"},
    "inductor": {"kernel"},
}


def results_of(name, backend):
    """Returns everything that an example computes: results, changed arguments, losses, gradients."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    module = example(name)
    if name != "hard":
        found = module.main(backend)
        return found
    found = []
    for case, function, make in module.cases():
        compiled = torch.compile(function, backend=backend)
        for _ in range(2):
            args, kwargs = make()
            # Gradients are computed for all functions except those that would fail with them.
            leaf = args[0].requires_grad_(case not in ("break_in_with", "mutation"))
            result = compiled(*args, **kwargs)
            tensors = [one for one in leaves(result) if one.requires_grad]
            if tensors:
                sum(one.sum() for one in tensors).backward()
            found.append((case, result, args, leaf.grad))
    return found


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, (list, tuple)) else []


def identical(one, two):
    if type(one) is not type(two):
        return False
    if isinstance(one, torch.Tensor):
        return (
            one.dtype == two.dtype
            and one.shape == two.shape
            and one.detach().numpy().tobytes() == two.detach().numpy().tobytes()
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(identical, one, two))
    if isinstance(one, dict):
        return list(one) == list(two) and all(identical(one[key], two[key]) for key in one)
    return one == two


class Files:
    """A `with` block that yields a dict of the executed lines of dumped files, by file name."""

    def __init__(self, directory):
        self.directory = str(directory) + os.sep
        self.lines = {}

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.trace)
        return self

    def __exit__(self, *error):
        sys.settrace(self.before)

    def trace(self, frame, event, argument):
        path = frame.f_code.co_filename
        if not path.startswith(self.directory):
            return None
        if event == "line":
            self.lines.setdefault(path[len(self.directory) :], set()).add(frame.f_lineno)
        return self.trace


LONG = {("train", "aot_eager"), ("hard", "aot_eager"), ("hard", "eager")}


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        pytest.param(name, backend, marks=pytest.mark.long if (name, backend) in LONG else ())
        for name in ("toy", "train", "hard")
        for backend in BACKENDS
    ],
)
def test_results_are_the_same_bit_for_bit(name, backend, tmp_path):
    without = results_of(name, backend)
    with depyf.prepare_debug(tmp_path) as session:
        first = results_of(name, backend)
    assert identical(first, without)
    check_dump(tmp_path)
    compiled = [frame for frame in session.frames if frame.status == "compiled"]
    assert compiled and all(frame.proved for frame in compiled)
    for frame in compiled:
        assert frame.running, frame
        kinds = {artifact.kind for artifact in frame.artifacts if artifact.running}
        expected = CAN_RUN[backend] & {artifact.kind for artifact in frame.artifacts}
        assert expected <= kinds, (frame.function, frame.compile_id)


@pytest.mark.parametrize("backend", BACKENDS)
def test_cached_calls_run_the_files_line_by_line(backend, tmp_path):
    def work(x, w):
        y = torch.nn.functional.gelu(x @ w)
        return (y * y).sum()

    def arguments():
        torch.manual_seed(0)
        return torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)

    def gradients():
        x, w = arguments()
        result = compiled(x, w)
        result.backward()
        return result, x.grad, w.grad

    compiled = torch.compile(work, backend=backend)
    without = gradients()
    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path) as session:
        gradients()
    with Files(tmp_path) as files:
        assert identical(gradients(), without)
    frame = session.frames[0]
    ran = {frame.transformed_file} | {a.file for a in frame.artifacts if a.kind in CAN_RUN[backend]}
    assert set(files.lines) == ran
    assert len(ran) == (2 if backend == "eager" else 3)
    for name, lines in files.lines.items():
        text = (tmp_path / name).read_text().splitlines()
        # At least three lines of each file ran, including a return.
        assert len(lines) >= 3 and any(text[line - 1].strip().startswith("return") for line in lines), name
        assert any("uns from this file" in line or "runs from this file" in line for line in text[:5]), name
        assert running.files[str(tmp_path / name)].first_line in lines


def test_output_code_from_a_cache_runs_from_its_file_too(tmp_path):
    def work(x):
        return torch.sin(x) * 3 + 1

    with torch._inductor.config.patch(fx_graph_cache=True):
        compiled = torch.compile(work)
        compiled(torch.ones(5))
        torch._dynamo.reset()
        with depyf.prepare_debug(tmp_path) as session:
            compiled(torch.ones(5))
    (kernel,) = (artifact for artifact in session.frames[0].artifacts if artifact.kind == "kernel")
    assert any("from a cache" in missing.why for missing in session.frames[0].missing)
    with Files(tmp_path) as files:
        compiled(torch.ones(5))
    assert kernel.running and len(files.lines[kernel.file]) > 3


def test_tracebacks_point_into_the_files(tmp_path):
    @torch.library.custom_op("depyf_test::fails_when_large", mutates_args=())
    def fails_when_large(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 100:
            raise LookupError("of the operator")
        return x.clone()

    @fails_when_large.register_fake
    def _(x):
        return torch.empty_like(x)

    def uses(x):
        return fails_when_large(x * 2) + 1

    compiled = torch.compile(uses, backend="eager")
    with depyf.prepare_debug(tmp_path) as session:
        compiled(torch.ones(3))
    with pytest.raises(LookupError, match="of the operator") as caught:
        compiled(torch.full((3,), 100.0))
    frame = session.frames[0]
    places = {Path(entry.filename).name: entry.line for entry in traceback.extract_tb(caught.value.__traceback__)}
    assert places[frame.transformed_file] in (tmp_path / frame.transformed_file).read_text()
    assert "fails_when_large" in places[frame.files("Captured_Graph")[0]]


def test_unproved_code_runs_as_dynamo_made_it_and_says_so(tmp_path, monkeypatch):
    from depyf import decompilation, proof

    def refuse(one, two):
        return proof.prove(one, compile("0", "other", "exec"))

    monkeypatch.setattr(decompilation, "prove", refuse)
    monkeypatch.setattr(running, "prove", refuse)

    def double(x):
        return x * 2

    with depyf.prepare_debug(tmp_path) as session:
        assert torch.compile(double, backend="eager")(torch.ones(3)).tolist() == [2, 2, 2]
    frame = session.frames[0]
    assert frame.proved is False and not frame.running and not any(a.running for a in frame.artifacts)
    assert "; what runs is Dynamo's own code" in (tmp_path / frame.transformed_file).read_text().splitlines()[2]
    captured = (tmp_path / frame.files("Captured_Graph")[0]).read_text()
    assert "# Does not run from this file: " in captured
    assert all(entry.code.co_filename == __file__ for entry in dynamo.entries(double.__code__))


def test_functions_made_by_transformed_code_keep_the_users_code(tmp_path):
    def outer(x):
        k = x + 1
        torch._dynamo.graph_break()

        def inner(y):
            return y * k

        return inner

    with depyf.prepare_debug(tmp_path):
        made = torch.compile(outer, backend="eager")(torch.ones(3))
    assert made.__code__.co_filename == __file__ and made.__code__ in outer.__code__.co_consts


def test_of_two_blocks_the_first_ones_files_run(tmp_path):
    def double(x):
        return x * 2

    with depyf.prepare_debug(tmp_path / "one") as one, depyf.prepare_debug(tmp_path / "two") as two:
        torch.compile(double, backend="eager")(torch.ones(3))
    with Files(tmp_path) as files:
        torch.compile(double, backend="eager")(torch.ones(3))
    assert one.frames[0].running and not two.frames[0].running
    assert set(files.lines) == {f"one/{one.frames[0].transformed_file}", f"one/{one.frames[0].artifacts[0].file}"}
    assert "what runs is Dynamo's own code" not in (tmp_path / "one" / one.frames[0].transformed_file).read_text()
    for name in (two.frames[0].transformed_file, two.frames[0].artifacts[0].file):
        assert "another block" in (tmp_path / "two" / name).read_text()


def test_a_graph_that_takes_its_inputs_as_printed_is_compiled_as_it_stands(tmp_path, monkeypatch):
    def f(x):
        return x.sin() + 1

    def broken(*args):
        raise AssertionError("a tree was made of the text")

    monkeypatch.setattr("depyf.capture.substitution._forward", broken)
    plain = f(torch.ones(3))
    with depyf.prepare_debug(tmp_path) as session:
        graphs = []
        compiled = torch.compile(f, backend=lambda graph, inputs: graphs.append(graph) or graph)
        assert identical(compiled(torch.ones(3)), plain)
        (file,) = session.frames[0].files("Captured_Graph")
        code = type(graphs[0]).forward.__code__
        graphs[0].recompile()  # the next call creates the graph's function again, which must run from the file too
        assert identical(graphs[0](torch.ones(3)), (plain,))
        again = type(graphs[0]).forward.__code__
    assert Path(code.co_filename) == Path(again.co_filename) == tmp_path / file
    lines = (tmp_path / file).read_text().splitlines()
    assert lines[code.co_firstlineno - 1].strip().startswith("def forward(self")
    assert lines[running.first_line(again) - 1].strip() == "l_x_ = L_x_"
    assert getattr(code, "co_qualname", "forward") == "forward"


def train_once(backend):
    def work(x, w):
        return torch.nn.functional.gelu(x @ w).square().sum()

    x, w = torch.ones(4, 4, requires_grad=True), torch.ones(4, 4, requires_grad=True)
    result = torch.compile(work, backend=backend)(x, w)
    result.backward()
    return result.detach(), x.grad, w.grad


@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition"])
def test_a_graph_that_takes_a_list_of_inputs_is_compiled_from_its_text(backend, tmp_path, monkeypatch):
    def codes_and_lines():
        codes = [swap.pairs[0][1] for swap in swaps]
        swaps.clear()
        return {(code.co_code, code.co_firstlineno, tuple(lines_of(code))) for code in codes}

    def lines_of(code):  # the line of each code unit; the entries of the table may be split in another way
        return [line for start, end, line in code.co_lines() for _ in range(start, end, 2)]

    swaps = []
    graph_swap = substitution.graph_swap

    def kept(module, text):
        swap, reason = graph_swap(module, text)
        swaps.append(swap)
        return swap, reason

    monkeypatch.setattr(substitution, "graph_swap", kept)
    with depyf.prepare_debug(tmp_path / "tree"), monkeypatch.context() as context:
        context.setattr(substitution, "_from_text", lambda *args: None)
        results = train_once(backend)
    from_tree = codes_and_lines()
    torch._dynamo.reset()

    def broken(*args):
        raise AssertionError("a tree was made of the text")

    monkeypatch.setattr(substitution, "_forward", broken)
    with depyf.prepare_debug(tmp_path / "text"):
        assert identical(train_once(backend), results)
    assert len(from_tree) >= 2 and codes_and_lines() == from_tree


def test_each_graph_module_of_aot_eager_is_proved_once(tmp_path, monkeypatch):
    modules, texts = [], []
    graph_swap = substitution.graph_swap

    def counted(module, text):
        modules.append(module)
        texts.append(text)
        return graph_swap(module, text)

    monkeypatch.setattr(substitution, "graph_swap", counted)
    with depyf.prepare_debug(tmp_path) as session:
        train_once("aot_eager")
    assert len(modules) == len({id(module) for module in modules})
    graphs = [artifact for artifact in session.frames[0].artifacts if artifact.running]
    assert [artifact.kind for artifact in graphs] == ["Forward_graph", "Backward_graph"]
    assert set(texts) == {annotate.plain((tmp_path / artifact.file).read_text()) for artifact in graphs}


def test_a_graph_of_aot_eager_that_is_not_proved_says_so_in_its_place(tmp_path, monkeypatch):
    with depyf.prepare_debug(tmp_path / "proved") as session:
        results = train_once("aot_eager")
    kinds = [artifact.kind for artifact in session.frames[0].artifacts]
    torch._dynamo.reset()
    monkeypatch.setattr(substitution, "graph_swap", lambda *args: (None, "not proved: this is a test"))
    with depyf.prepare_debug(tmp_path / "not") as session:
        assert identical(train_once("aot_eager"), results)
    (frame,) = session.frames
    assert [artifact.kind for artifact in frame.artifacts] == kinds
    assert not any(artifact.running for artifact in frame.artifacts)
    for kind in ("Forward_graph", "Backward_graph"):
        (file,) = frame.files(kind)
        assert "not proved: this is a test" in (tmp_path / "not" / file).read_text()
        assert str(tmp_path / "not" / file) not in running.files


@pytest.mark.parametrize("copied", [False, True])
def test_a_graph_that_is_called_before_its_compilation_has_ended_runs_from_its_file(copied, tmp_path):
    files = []

    def compile_graph(graph, inputs):
        graph = copy.deepcopy(graph) if copied else graph
        graph.recompile()
        graph(*inputs)
        files.append(type(graph).forward.__code__.co_filename)
        return make_boxed_func(graph)

    def aot_that_calls(graph, inputs):  # depyf recognises a backend like aot_eager by this name
        return aot_autograd(fw_compiler=compile_graph, bw_compiler=compile_graph)(graph, inputs)

    with depyf.prepare_debug(tmp_path) as session:
        results = train_once(aot_that_calls)
    torch._dynamo.reset()
    assert identical(results, train_once("aot_eager"))
    graphs = [artifact for artifact in session.frames[0].artifacts if artifact.running]
    assert [str(tmp_path / artifact.file) for artifact in graphs] == files and len(files) == 2
    assert set(files) <= set(running.known)
