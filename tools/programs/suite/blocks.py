"""Layers that are compiled one by one, as accelerate and diffusers do for large models, with flex_attention, on two batches."""

from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import torch

PACKAGES = "torch"


def is_before(batch, head, query, key):
    return query >= key


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(32)
        self.joined = torch.nn.Linear(32, 96)
        self.out = torch.nn.Linear(32, 32)

    def forward(self, x, mask):
        query, key, value = self.joined(self.norm(x)).unflatten(-1, (3, 2, 16)).permute(2, 0, 3, 1, 4)
        seen = flex_attention(query, key, value, block_mask=mask)
        return x + self.out(seen.transpose(1, 2).flatten(2))


def main():
    blocks = torch.nn.ModuleList(Block() for _ in range(3)).eval()
    for block in blocks:
        block.compile()
    mask = create_block_mask(is_before, None, None, 32, 32, device="cpu")
    results = []
    with torch.no_grad():
        for batch in (1, 2):
            x = torch.randn(batch, 32, 32)
            for block in blocks:
                x = block(x, mask)
            results.append(x)
    return results
