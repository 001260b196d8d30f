"""DistributedDataParallel in a group of one process (gloo): the optimizer of torch.compile splits the graph at its buckets."""

import tempfile

import torch.distributed as dist

import torch

PACKAGES = "torch"


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(512, 512) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def main():
    with tempfile.TemporaryDirectory() as directory:
        dist.init_process_group("gloo", init_method=f"file://{directory}/group", rank=0, world_size=1)
        try:
            model = torch.nn.parallel.DistributedDataParallel(Net(), bucket_cap_mb=1)
            compiled = torch.compile(model)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            losses = []
            for _ in range(3):
                loss = compiled(torch.randn(4, 512)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())
            return losses, dict(model.module.state_dict())
        finally:
            dist.destroy_process_group()
