"""A Trainer of transformers with torch_compile=True: a small GPT-2 in training, and its evaluation."""

import tempfile

from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

import torch

PACKAGES = "transformers"


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(1)
        self.ids = torch.randint(1, 64, (count, 12), generator=generator)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


def main():
    config = GPT2Config(
        vocab_size=64, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0, pad_token_id=0
    )
    model = GPT2LMHeadModel(config)
    with tempfile.TemporaryDirectory() as directory:
        arguments = TrainingArguments(
            output_dir=directory,
            per_device_train_batch_size=4,
            max_steps=4,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            torch_compile=True,
            disable_tqdm=True,
            seed=1,
        )
        trainer = Trainer(model, arguments, train_dataset=Sentences(16), eval_dataset=Sentences(6))
        trainer.train()
        evaluated = trainer.evaluate()["eval_loss"]
    return dict(model.state_dict()), [entry.get("loss") for entry in trainer.state.log_history], evaluated
