"""A LightningModule under torch.compile: fitted, validated and used for predictions by Lightning's Trainer."""

import logging
import tempfile

import lightning

import torch

PACKAGES = "lightning"


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(6, 12), torch.nn.GELU(), torch.nn.LayerNorm(12), torch.nn.Linear(12, 2)
        )
        self.seen = []

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self(x), y)
        self.seen.append(loss.detach())
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.seen.append(torch.nn.functional.l1_loss(self(x), y))

    def predict_step(self, batch, index):
        return self(batch[0])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


def main():
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    lightning.seed_everything(4, verbose=False)
    data = torch.utils.data.TensorDataset(torch.randn(12, 6), torch.randn(12, 2))
    loader = torch.utils.data.DataLoader(data, batch_size=4)
    module = Module()
    compiled = torch.compile(module)
    with tempfile.TemporaryDirectory() as directory:
        trainer = lightning.Trainer(
            max_epochs=1,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=directory,
        )
        trainer.fit(compiled, loader, loader)
        predicted = trainer.predict(compiled, loader)
    return module.seen, dict(module.state_dict()), predicted
