"""Values that are known only when the graph runs, and the checks of them."""

import torch


class Counts(torch.nn.Module):
    def forward(self, x, n):
        count = n.sum().item()
        torch._check(count >= 2)
        torch._check(count <= 10, lambda: "at most ten")
        return torch.ones(count).sum() + x.nonzero().sum()


with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
    torch.compile(Counts(), backend="eager")(torch.tensor([1.0, 0.0]), torch.tensor([2, 2]))
