"""A method that reaches the limit on recompilations."""

import torch

torch._dynamo.config.recompile_limit = 2


class Net(torch.nn.Module):
    def forward(self, x, scale):
        return x * scale


compiled = torch.compile(Net(), backend="eager", dynamic=False)
for size in range(2, 6):
    compiled(torch.ones(size), 2)
torch._dynamo.config.recompile_limit = 8
