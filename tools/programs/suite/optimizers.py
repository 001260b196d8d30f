"""Compiled steps of torch.optim: AdamW with a scheduler's learning rate as a tensor, SGD with momentum, and Adam on groups."""

import torch

PACKAGES = "torch"


def train(make_optimizer, make_scheduler=None):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))
    optimizer = make_optimizer(model)
    scheduler = make_scheduler(optimizer) if make_scheduler is not None else None

    @torch.compile(fullgraph=False)
    def step():
        optimizer.step()
        if scheduler is not None:
            scheduler.step()

    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(torch.randn(5, 8)).square().mean()
        loss.backward()
        step()
        losses.append(loss.detach())
    return losses, dict(model.state_dict()), optimizer.state_dict()


def main():
    adamw = train(
        lambda model: torch.optim.AdamW(model.parameters(), lr=torch.tensor(1e-2)),
        lambda optimizer: torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=3),
    )
    momentum = train(lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True))
    groups = train(
        lambda model: torch.optim.Adam(
            [{"params": model[0].parameters(), "lr": 1e-3}, {"params": model[2].parameters(), "weight_decay": 0.1}],
            amsgrad=True,
        )
    )
    return adamw, momentum, groups
