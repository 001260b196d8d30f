"""A small ConvNeXt of timm in training as its script does: mixup, stochastic depth, LAMB and a moving average of the weights."""

import timm
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.utils import ModelEmaV3

import torch

PACKAGES = "timm"


def main():
    model = timm.create_model("test_convnext", pretrained=False, num_classes=4, drop_path_rate=0.3)
    average = ModelEmaV3(model, decay=0.9)
    optimizer = create_optimizer_v2(model, opt="lamb", lr=0.01, weight_decay=0.05)
    mixup = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, label_smoothing=0.1, num_classes=4)
    loss_of = SoftTargetCrossEntropy()
    compiled = torch.compile(model)
    losses = []
    for step in range(2):
        images, labels = mixup(torch.randn(2, 3, 32, 32), torch.tensor([step, 3]))
        loss = loss_of(compiled(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model, step=step)
        losses.append(loss.detach())
    compiled.eval()
    with torch.inference_mode():
        logits = compiled(torch.randn(2, 3, 32, 32))
    return losses, dict(model.state_dict()), dict(average.module.state_dict()), logits
