"""Measures how the size of a dump's texts and the time of the end of the block grow with the layers of a transformer.

    python bench/dump_size.py [--layers 6,12,24,48] [--backends aot_eager,inductor] [--keep DIRECTORY]

The model has blocks of LayerNorm, attention with heads and an MLP; one compilation, forward and backward. The program
prints for each dump: the lines of index.md, of the full_code file and of the compilation's own files; the share of
lines with comments in Inductor's output code, in bytes too; the longest line apart from those that PyTorch wrote
(graphs, output code, its tree of guards); all lines and megabytes, and the seconds of the end of the block. Each dump
is made in a process of its own. The last line for a backend is the growth of the text for a layer, from the first step
to the last: 1 means that the text grows linearly.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "python")]

WIDTH, HEADS, TOKENS, WORDS = 32, 4, 8, 50
# The beginnings of comments in Inductor's output code, which depyf and PyTorch write.
COMMENT = ("# ", "#~", "//")


def transformer(layers: int):
    """Returns (a transformer model, an input)."""
    import torch
    from torch import nn

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.heads = HEADS
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
            self.out = nn.Linear(WIDTH, WIDTH)

        def forward(self, x):
            batch, tokens, width = x.shape
            q, k, v = (
                part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
                for part in self.qkv(x).chunk(3, dim=-1)
            )
            scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
            mixed = torch.softmax(scores, dim=-1) @ v
            return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.n1 = nn.LayerNorm(WIDTH)
            self.attn = Attention()
            self.n2 = nn.LayerNorm(WIDTH)
            self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x):
            x = x + self.attn(self.n1(x))
            return x + self.mlp(self.n2(x))

    class LM(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(WORDS, WIDTH)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm = nn.LayerNorm(WIDTH)
            self.head = nn.Linear(WIDTH, WORDS)

        def forward(self, tokens):
            x = self.words(tokens)
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    torch.manual_seed(0)
    return LM(), torch.randint(0, WORDS, (2, TOKENS))


def write_dump(directory: Path, layers: int, backend: str) -> None:
    """Writes one dump, and prints the seconds that the end of the block takes, as JSON."""
    import depyf
    import torch

    model, tokens = transformer(layers)
    compiled = torch.compile(model, backend=backend)
    block = depyf.prepare_debug(directory)
    block.__enter__()
    compiled(tokens).sum().backward()
    started = time.process_time()
    block.__exit__(None, None, None)
    print(json.dumps({"end": time.process_time() - started}))


def measure(directory: Path) -> dict[str, float]:
    """Returns the figures of a dump, by name."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(directory.iterdir()) if path.is_file()}
    lines = {name: text.splitlines() for name, text in texts.items()}
    output_code = [line for name in lines if ".kernel_" in name for line in lines[name]]
    comments = [line for line in output_code if line.lstrip().startswith(COMMENT) or "#~ " in line]
    return {
        "index": len(lines["index.md"]),
        "full_code": sum(len(lines[name]) for name in lines if name.startswith("full_code")),
        "comments, % of bytes": 100 * sum(map(_comment_bytes, output_code)) / max(sum(map(len, output_code)), 1),
        "comments, % of lines": 100 * len(comments) / max(len(output_code), 1),
        "longest line": max(map(len, own_lines(lines)), default=0),
        "lines": sum(map(len, lines.values())),
        "MB": sum(len(text.encode()) for text in texts.values()) / 1e6,
    }


def own_lines(lines: dict[str, list[str]]) -> list[str]:
    """Returns the lines of a dump's files, given by file name, without lines and files that PyTorch wrote.

    PyTorch wrote the graphs and the output code, also where full_code shows them, the guard trees in session.json, the
    events in times.json, and the keys in files of cache misses.
    """
    of_pytorch = {line.strip() for name in lines if name.startswith("__compiled_fn_") for line in lines[name]}
    return [
        line
        for name in lines
        if not name.startswith(("__compiled_fn_", "session.json", "times.json", "cache_miss_of_"))
        for line in lines[name]
        if line.strip() not in of_pytorch
    ]


def growth(sizes: list[tuple[int, float]]) -> float:
    """Returns the cost per added layer between the last two items (layers, cost), divided by that between the first two
    items."""
    slopes = [(more - cost) / (wider - layers) for (layers, cost), (wider, more) in itertools.pairwise(sizes)]
    return slopes[-1] / slopes[0]


def _comment_bytes(line: str) -> int:
    """Returns the number of characters of a line of output code that belong to a comment of depyf (`#~ `) or are a
    comment line of PyTorch."""
    if line.lstrip().startswith(COMMENT):
        return len(line)
    at = line.find("#~ ")
    return len(line) - at if at >= 0 else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--layers",
        default="6,12,24,48",
        help="the numbers of layers of the transformers, with commas (default: 6,12,24,48)",
    )
    parser.add_argument(
        "--backends", default="aot_eager,inductor", help="the backends, with commas (default: aot_eager,inductor)"
    )
    parser.add_argument("--keep", type=Path, help="write the dumps below this directory, and keep the dumps")
    parser.add_argument("--dump", nargs=3, metavar=("DIRECTORY", "LAYERS", "BACKEND"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.dump:
        write_dump(Path(arguments.dump[0]), int(arguments.dump[1]), arguments.dump[2])
        return
    with tempfile.TemporaryDirectory() as temporary:
        keep = arguments.keep or Path(temporary)
        for backend in arguments.backends.split(","):
            sizes: dict[str, list[tuple[int, float]]] = {}
            for layers in arguments.layers.split(","):
                directory = keep / f"{backend}_{layers}"
                command = [sys.executable, "-W", "ignore", __file__, "--dump", str(directory), layers, backend]
                told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
                figures = {**measure(directory), "end, s": json.loads(told)["end"]}
                print(f"{backend}, {layers} layers: ", end="")
                print("; ".join(f"{name} {number:.4g}" for name, number in figures.items()), flush=True)
                for name in ("lines", "MB"):
                    sizes.setdefault(name, []).append((int(layers), figures[name]))
            if all(len(of_name) > 2 for of_name in sizes.values()):
                print(
                    f"{backend}, growth: {'; '.join(f'{name} {growth(sizes[name]):.3f}' for name in sizes)}", flush=True
                )


if __name__ == "__main__":
    main()
