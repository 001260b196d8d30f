"""`generate` of transformers with a static cache, which compiles the decoding step: a small Llama, greedy and sampled."""

from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.generation import CompileConfig

import torch

PACKAGES = "transformers"


def main():
    config = LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=None,
    )
    model = LlamaForCausalLM(config).eval()
    results = []
    for samples in (False, True):
        torch.manual_seed(2)
        settings = GenerationConfig(
            max_new_tokens=5,
            do_sample=samples,
            cache_implementation="static",
            pad_token_id=0,
            disable_compile=False,
            compile_config=CompileConfig(mode="default", fullgraph=False),
        )
        settings.compile_config._compile_all_devices = True
        ids = torch.randint(1, 64, (2, 7))
        results.append(model.generate(ids, generation_config=settings, attention_mask=torch.ones_like(ids)))
    return results
