"""A small vision transformer of timm in training, with gradient checkpointing in one of two steps, and its features."""

import timm

import torch

PACKAGES = "timm"


def main():
    model = timm.create_model("test_vit", pretrained=False, num_classes=4, img_size=32, depth=1)
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for checkpoints in (False, True):
        model.set_grad_checkpointing(checkpoints)
        loss = torch.nn.functional.cross_entropy(compiled(torch.randn(2, 3, 32, 32)), torch.tensor([0, 3]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    model.eval()
    features = torch.compile(model.forward_features)
    with torch.inference_mode():
        seen = features(torch.randn(1, 3, 32, 32))
    return losses, dict(model.state_dict()), seen
