"""A training loop of accelerate with its Inductor plugin: gradients accumulated over two batches, clipped, and a scheduler."""

from accelerate import Accelerator
from accelerate.utils import TorchDynamoPlugin, set_seed

import torch

PACKAGES = "accelerate"


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.Linear(6, 8)
        self.head = torch.nn.Linear(8, 3)

    def forward(self, x):
        states = torch.tanh(self.cell(x))
        return self.head(torch.nn.functional.dropout(states.mean(1), 0.1, self.training))


def main():
    set_seed(5)
    plugin = TorchDynamoPlugin(backend="inductor", use_regional_compilation=False)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2, dynamo_plugin=plugin)
    data = torch.utils.data.TensorDataset(torch.randn(10, 4, 6), torch.randint(3, (10,)))
    loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
    model = Net()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    compiled, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    losses = []
    for _ in range(2):
        for x, labels in loader:
            with accelerator.accumulate(compiled):
                loss = torch.nn.functional.cross_entropy(compiled(x), labels)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(compiled.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss.detach()))
    return losses, dict(accelerator.unwrap_model(compiled).state_dict())
