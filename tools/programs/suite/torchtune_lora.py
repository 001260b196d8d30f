"""LoRA in torchtune as its recipe does: layers and the loss in chunks are compiled one by one, and activations recomputed."""

from torchtune import training
from torchtune.models.llama3_2 import lora_llama3_2
from torchtune.modules import TransformerSelfAttentionLayer
from torchtune.modules.loss import CEWithChunkedOutputLoss
from torchtune.modules.peft import get_adapter_params, set_trainable_params

import torch

PACKAGES = "torchtune"


def main():
    model = lora_llama3_2(
        ["q_proj", "v_proj"],
        apply_lora_to_mlp=True,
        vocab_size=64,
        num_layers=2,
        num_heads=4,
        num_kv_heads=2,
        embed_dim=32,
        max_seq_len=64,
        intermediate_dim=64,
        lora_rank=4,
        lora_alpha=8,
        lora_dropout=0.1,
    )
    set_trainable_params(model, get_adapter_params(model))
    training.compile_model(model, verbose=False)
    training.set_activation_checkpointing(model, auto_wrap_policy={TransformerSelfAttentionLayer})
    loss_of = training.compile_loss(CEWithChunkedOutputLoss(num_output_chunks=2), verbose=False)
    model.set_num_output_chunks(loss_of.num_output_chunks)
    optimizer = torch.optim.AdamW(get_adapter_params(model).values(), lr=0.01)
    losses = []
    for length in (8, 12):  # the second length causes a recompilation with a dynamic length
        tokens = torch.randint(64, (2, length))
        loss = loss_of(model(tokens), tokens)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    return losses, dict(model.state_dict())
