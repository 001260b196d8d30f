"""Tests of backends that, like vLLM's, split a graph and compile the pieces with Inductor: each piece has its own
files."""

import contextlib

import pytest
from torch._inductor import standalone_compile
from torch._inductor.standalone_compile import CompiledArtifact
from torch._inductor.utils import fresh_cache
from torch.fx.passes.split_module import split_module

import depyf
import torch
from torch_helpers import check_dump

pytestmark = pytest.mark.slow


class SplitBackend:
    """Splits a graph at each `torch.sin`, which is not compiled, and saves the pieces that Inductor compiles in a
    folder."""

    def __init__(self, folder):
        self.folder = folder
        self.compiled, self.loaded = [], []

    def __call__(self, graph, example_inputs):
        part, part_of_node = 0, {}
        for node in graph.graph.nodes:
            if node.op not in ("placeholder", "output"):
                is_border = node.target is torch.sin
                part_of_node[node] = part + is_border
                part += 2 * is_border
        split = split_module(graph, None, lambda node: part_of_node[node], keep_original_order=True)
        for name, piece in list(split.named_children()):
            if not any(node.target is torch.sin for node in piece.graph.nodes):
                split.__dict__[name] = self.piece(name, piece, [torch.ones(8)])
        return split.forward

    def piece(self, name, piece, inputs):
        path = self.folder / name
        if path.exists():
            self.loaded.append(name)
            loaded = CompiledArtifact.load(path=str(path), format="unpacked")
            returns_many = isinstance(next(iter(reversed(piece.graph.nodes))).args[0], tuple)
            return loaded if returns_many else lambda *values: loaded(*values)[0]
        self.compiled.append(name)
        compiled = standalone_compile(piece, inputs, dynamic_shapes="from_example_inputs")
        compiled.save(path=str(path), format="unpacked")
        return compiled


def chain(x):
    x = torch.sin(x * 2 + 1)
    x = torch.sin(x * 2 + 1)
    return x.cos() + 3


def run(folder, directory):
    torch._dynamo.reset()
    backend = SplitBackend(folder)
    x = torch.linspace(0, 1, 8)
    with depyf.prepare_debug(directory) as session:
        result = torch.compile(chain, backend=backend, dynamic=False)(x)
    torch.testing.assert_close(result, chain(x))
    check_dump(directory)
    return backend, session.frames[0]


@contextlib.contextmanager
def caches_on():
    with (
        torch._inductor.config.patch(fx_graph_cache=True),
        torch._functorch.config.patch(enable_autograd_cache=True),
    ):
        yield


def running(frame):
    return [artifact.running for artifact in frame.artifacts if artifact.kind == "kernel"]


def test_each_piece_has_a_file_of_output_code_also_from_a_cache(tmp_path):
    pieces = tmp_path / "pieces"
    pieces.mkdir()
    with fresh_cache(), caches_on():
        backend, frame = run(pieces, tmp_path / "cold")
    assert len(backend.compiled) == len(frame.files("AFTER_POST_GRAD")) == 3
    # The second piece is equal to the first one, so the first piece's file runs for both pieces, and the second file
    # names the first one.
    assert running(frame) == [True, False, True]
    (second,) = [artifact.file for artifact in frame.artifacts if artifact.kind == "kernel" and not artifact.running]
    assert "an earlier graph of the compilation is the same" in (tmp_path / "cold" / second).read_text()
    with fresh_cache(), caches_on():
        backend, frame = run(pieces, tmp_path / "warm")
    assert len(backend.loaded) == 3
    assert running(frame) == [True, True, True]
