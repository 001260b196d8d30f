"""MobileNetV3 blocks of torchvision in training under autocast to bfloat16, with their running statistics."""

from torchvision.models.mobilenetv3 import InvertedResidualConfig, MobileNetV3

import torch

PACKAGES = "torchvision"


def main():
    settings = [
        InvertedResidualConfig(8, 3, 16, 8, True, "RE", 1, 1, 1.0),
        InvertedResidualConfig(8, 5, 24, 16, True, "HS", 2, 1, 1.0),
    ]
    model = MobileNetV3(settings, last_channel=32, num_classes=4)
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(compiled(torch.randn(2, 3, 32, 32)), torch.tensor([1, 2]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses, dict(model.state_dict())
