"""A graph break that PyTorch's own optimizer asks for."""

import torch

model = torch.nn.Linear(3, 3, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(2, 3)).sum().backward()


@torch.compile(backend="eager")
def update(scale):
    scale = scale * 2
    optimizer.step()
    return scale


update(torch.ones(1))
