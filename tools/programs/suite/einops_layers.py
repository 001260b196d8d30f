"""einops in functions and layers under torch.compile: rearrange, reduce, repeat, einsum and pack, with gradients."""

from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange

import torch

PACKAGES = "einops"


class Mixer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4)
        self.tokens = EinMix("b t c -> b t0 c", weight_shape="t t0", bias_shape="t0", t=4, t0=4)
        self.channels = torch.nn.Linear(48, 24)

    def forward(self, images, query):
        tokens = self.channels(self.tokens(self.patches(images)))
        heads = rearrange(tokens, "b t (h d) -> b h t d", h=3)
        scores = einsum(repeat(query, "h d -> b h d", b=len(images)), heads, "b h d, b h t d -> b h t").softmax(-1)
        packed, shapes = pack([heads, scores], "b h *")
        heads, scores = unpack(packed, shapes, "b h *")
        return reduce(heads * scores[..., None], "b h t d -> b (h d)", "sum")


def main():
    model = Mixer()
    compiled = torch.compile(model)
    query = torch.randn(3, 8, requires_grad=True)
    results = []
    for batch in (2, 3):
        result = compiled(torch.randn(batch, 3, 8, 8), query)
        result.square().mean().backward()
        results.append(result)
    return results, query.grad, {name: parameter.grad for name, parameter in model.named_parameters()}
