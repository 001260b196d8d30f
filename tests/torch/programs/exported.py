"""torch.export, with Dynamo and without."""

import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2


torch.export.export(Net(), (torch.ones(2),))
torch.export.export(Net(), (torch.ones(2),), strict=True)
