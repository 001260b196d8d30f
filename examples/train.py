"""Training: graph breaks in a nested module, dynamic batch sizes, a float attribute that changes, backward graphs.

python train.py [BACKEND]
"""

import sys

import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, 4 * d)
        self.fc2 = nn.Linear(4 * d, d)

    def forward(self, x):
        h = self.norm(x)
        h = torch.nn.functional.gelu(self.fc1(h))
        return x + self.fc2(h)


class Net(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.b1 = Block(d)
        self.b2 = Block(d)
        self.head = nn.Linear(d, 10)
        self.scale = 1.0

    def forward(self, x):
        x = self.b1(x)
        print("step", tuple(x.shape))  # a graph break: a call with a side effect
        x = self.b2(x) * self.scale
        if x.mean() > 1000:  # a branch on data
            x = x.clamp(max=1000)
        return torch.log_softmax(self.head(x), -1)


def main(backend="inductor"):
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    compiled = torch.compile(net, backend=backend)
    losses = []
    for step, batch in enumerate([8, 16, 24, 32, 8]):  # other sizes: compiled again, with dynamic shapes
        if step == 4:
            net.scale = 0.5  # guarded, and changed
        x = torch.randn(batch, 64)
        y = torch.randint(0, 10, (batch,))
        loss = torch.nn.functional.nll_loss(compiled(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    return losses


if __name__ == "__main__":
    main(*sys.argv[1:])
