"""A Swin transformer of torchvision in training, with shifted windows and stochastic depth, and its evaluation."""

from torchvision.models.swin_transformer import SwinTransformer

import torch

PACKAGES = "torchvision"


def main():
    model = SwinTransformer(
        patch_size=[4, 4],
        embed_dim=16,
        depths=[2],
        num_heads=[2],
        window_size=[4, 4],
        stochastic_depth_prob=0.2,
        num_classes=4,
    )
    compiled = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(2):
        loss = torch.nn.functional.cross_entropy(compiled(torch.randn(2, 3, 32, 32)), torch.tensor([1, 2]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    compiled.eval()
    with torch.inference_mode():
        logits = compiled(torch.randn(3, 3, 32, 32))
    return losses, dict(model.state_dict()), logits
