#!/usr/bin/env python3
"""Small models of the transformers library under torch.compile: does anything change where depyf.prepare_debug watches?

    models.py [--backend aot_eager] [--only llama gpt2]

Each model is built from a configuration, with random weights, so nothing is downloaded but the library itself, which pip
puts into .cache/models. It compares what the soak compares: results and gradients bit for bit, and compilations. A
line for each model states how many frames were compiled, proved, and run from their files. The exit status is 1 if a model
was harmed, or a frame is not proved or does not run from its file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ROOT / ".cache" / "models"
VERSION = "5.23.0"

DECODERS = """llama mistral qwen2 qwen3 gemma gemma2 phi phi3 gpt2 gpt_neo gpt_neox gptj opt bloom falcon stablelm olmo olmo2
cohere starcoder2 granite mixtral qwen2_moe codegen biogpt""".split()
ENCODERS = (
    "bert roberta distilbert electra albert mpnet deberta-v2 xlm-roberta camembert layoutlm megatron-bert".split()
)
SIZES = {
    "hidden_size": 32, "n_embd": 32, "dim": 32, "embedding_size": 32, "word_embed_proj_dim": 32, "d_model": 32,
    "num_hidden_layers": 2, "n_layer": 2, "n_layers": 2, "num_layers": 2,
    "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "num_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "intermediate_size": 64, "hidden_dim": 64, "ffn_dim": 64, "n_inner": 64, "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32, "num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2,
    "vocab_size": 128, "max_position_embeddings": 64, "n_positions": 64, "n_ctx": 64, "rotary_dim": 4, "window_size": 16,
    "attention_types": [[["global", "local"], 1]], "use_cache": False, "pad_token_id": 0,
}  # fmt: skip
"""Maps the name of a parameter to a small value, for each name that the configurations use."""

PROGRAM = """
import torch
from transformers import AutoConfig, {auto}

SIZES = {sizes!r}


class Outputs(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *arguments, **keywords):
        return self.model(*arguments, **keywords)[0]


def subject():
    known = AutoConfig.for_model({kind!r})
    own = {{name for kind in type(known).__mro__ for name in vars(kind).get("__annotations__", ())}}
    config = type(known)(**{{name: size for name, size in SIZES.items() if name in own}})
    torch.manual_seed(0)
    return Outputs({auto}.from_config(config)).eval()


def calls():
    generator = torch.Generator().manual_seed(1)
    ids = [torch.randint(1, 128, shape, generator=generator) for shape in ((2, 8), (2, 8), (2, 12), (3, 9))]
    return [((one,), {{"attention_mask": torch.ones_like(one)}}) for one in ids]


def state():
    return None
"""


def install() -> None:
    """Installs the transformers library into .cache/models with pip, unless that release is installed."""
    stamp = PACKAGES / ".installed"
    if stamp.exists() and stamp.read_text() == VERSION:
        return
    print(f"models: installing transformers {VERSION} into {PACKAGES.relative_to(ROOT)}", file=sys.stderr)
    command = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*command, "--target", str(PACKAGES), f"transformers=={VERSION}"], check=True)
    stamp.write_text(VERSION)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--backend", default="aot_eager", help="the backend that compiles the models (default: aot_eager)"
    )
    parser.add_argument("--only", nargs="+", metavar="KIND", help="use only models of these kinds (default: all kinds)")
    parser.add_argument(
        "--keep",
        default=ROOT / ".cache" / "model-programs",
        type=Path,
        help="the folder to which the programs are written",
    )
    options = parser.parse_args()
    install()
    os.environ["PYTHONPATH"] = str(PACKAGES)
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    import soak

    options.keep.mkdir(parents=True, exist_ok=True)
    worker = soak.Worker([options.backend])
    total, failed = soak.Summary(), []
    kinds = [(kind, "AutoModelForCausalLM") for kind in DECODERS] + [(kind, "AutoModel") for kind in ENCODERS]
    for kind, auto in kinds:
        if options.only and kind not in options.only:
            continue
        path = options.keep / f"{kind.replace('-', '_')}.py"
        path.write_text(PROGRAM.format(auto=auto, kind=kind, sizes=SIZES))
        total.programs += 1
        for verdict in worker.run(4, path):
            total.add(verdict)
            wrong = [
                f"{key}: {line}"
                for key in ("harmed", "unproved", "not_running", "not_parsed")
                for line in verdict.get(key, ())
            ]
            frames = verdict.get("frames", 0)
            running = frames - len(verdict.get("unproved", ())) - len(verdict.get("not_running", ()))
            print(
                f"{kind:16} {frames:3} frames, {running:3} proved and run from their files"
                + (" (unstable)" if verdict.get("unstable") else ""),
                flush=True,
            )
            for line in [*wrong, *(f"plain runs differ: {one}" for one in verdict.get("unstable", ()))]:
                print(f"    {line[:400]}", flush=True)
            if wrong:
                failed.append(kind)
    worker.close()
    print(total)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
