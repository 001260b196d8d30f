"""A backend like that of vLLM: it splits the graph at attention, compiles the pieces with Inductor, and keeps its own cache."""

import hashlib
import tempfile
from pathlib import Path

from torch._inductor import standalone_compile
from torch._inductor.standalone_compile import CompiledArtifact
from torch.fx.passes.split_module import split_module

import torch

PACKAGES = "torch"


@torch.library.custom_op("programs::attention", mutates_args=())
def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, -1) @ value


@attention.register_fake
def _(query, key, value):
    return torch.empty_like(query)


class Pieces(torch.fx.Interpreter):
    """Runs the split graph once on fake tensors, and replaces each piece of the graph by its compiled code."""

    def __init__(self, split, names, backend):
        super().__init__(split)
        self.names, self.backend = names, backend
        self.fake_mode = torch._guards.detect_fake_mode()

    def run(self, *arguments):
        fake = [self.fake_mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in arguments]
        with self.fake_mode:
            return super().run(*fake)

    def call_module(self, target, arguments, keywords):
        output = super().call_module(target, arguments, keywords)
        if target in self.names:
            piece = getattr(self.module, target)
            self.module.__dict__[target] = self.backend.compiled_piece(piece, arguments)
        return output


class SplitBackend:
    """A backend for torch.compile that caches compiled pieces by the text of their graph, in memory and in a folder."""

    def __init__(self, folder):
        self.folder, self.in_memory = folder, {}
        self.compiled = self.loaded = self.reused = self.graphs = 0

    def compiled_piece(self, piece, arguments):
        inputs = [(tuple(a.shape), a.dtype) if isinstance(a, torch.Tensor) else a for a in arguments]
        key = hashlib.sha256((piece.code + str(inputs)).encode()).hexdigest()[:16]
        path = self.folder / key
        if key in self.in_memory:
            self.reused += 1
        elif path.exists():
            self.loaded += 1
            self.in_memory[key] = CompiledArtifact.load(path=str(path), format="unpacked")
        else:
            self.compiled += 1
            self.in_memory[key] = standalone_compile(piece, arguments, dynamic_shapes="from_tracing_context")
            self.in_memory[key].save(path=str(path), format="unpacked")
        return self.in_memory[key]

    def __call__(self, graph, example_inputs):
        self.graphs += 1
        part_of_node, part, attentions = {}, 0, set()
        for node in graph.graph.nodes:
            if node.op in ("placeholder", "output"):
                continue
            if "attention" in str(node.target):
                attentions.add(part + 1)
                part_of_node[node] = part + 1
                part += 2
            else:
                part_of_node[node] = part
        split = split_module(graph, None, part_of_node.__getitem__, keep_original_order=True)
        names = [name for name, _ in split.named_children() if int(name.rpartition("_")[2]) not in attentions]
        Pieces(split, names, self).run(*example_inputs)
        return split.forward


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.RMSNorm(16)
        self.joined = torch.nn.Linear(16, 48, bias=False)
        self.up = torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 16)

    def forward(self, x):
        query, key, value = self.joined(self.norm(x)).chunk(3, -1)
        x = x + torch.ops.programs.attention(query.contiguous(), key.contiguous(), value.contiguous())
        return x + self.down(torch.nn.functional.silu(self.up(x)))


def main():
    torch.manual_seed(1)
    model = torch.nn.Sequential(*(Layer() for _ in range(3))).eval()
    inputs = [torch.randn(count, 16) for count in (4, 6, 9)]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for start in ("cold", "warm"):  # the warm run loads all pieces from the folder
            torch._dynamo.reset()
            backend = SplitBackend(Path(folder))
            compiled = torch.compile(model, backend=backend, fullgraph=True, dynamic=True)
            with torch.inference_mode():
                results += [start, [compiled(x) for x in inputs]]
            results.append([backend.compiled, backend.loaded, backend.reused, backend.graphs])
    return results
