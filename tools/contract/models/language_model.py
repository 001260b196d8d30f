"""A language model of 12 layers, trained for two steps or, with the argument `generate`, used to generate six words."""

import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(32), nn.LayerNorm(32)
        self.qkv, self.proj = nn.Linear(32, 96), nn.Linear(32, 32)
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).chunk(3, -1)
        x = x + self.proj(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x + self.down(nn.functional.gelu(self.up(self.n2(x))))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.blocks = nn.ModuleList(Block() for _ in range(12))
        self.head = nn.Linear(32, 50)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def train():
    compiled = torch.compile(LanguageModel())
    for _ in range(2):
        compiled(torch.randint(0, 50, (2, 16))).sum().backward()


@torch.no_grad()
def generate():
    compiled = torch.compile(LanguageModel().eval(), dynamic=True)
    tokens = torch.randint(0, 50, (2, 4))
    for _ in range(6):
        tokens = torch.cat([tokens, compiled(tokens)[:, -1:].argmax(-1)], 1)


torch.manual_seed(0)
generate() if sys.argv[1:] == ["generate"] else train()
