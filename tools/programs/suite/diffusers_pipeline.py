"""A DDIM pipeline of diffusers around a small U-Net, which is compiled: images from two seeds."""

from diffusers import DDIMPipeline, DDIMScheduler, UNet2DModel

import torch

PACKAGES = "diffusers"


def main():
    unet = UNet2DModel(
        sample_size=8,
        in_channels=3,
        out_channels=3,
        layers_per_block=1,
        block_out_channels=(8,),
        norm_num_groups=4,
        down_block_types=("DownBlock2D",),
        up_block_types=("UpBlock2D",),
    )
    unet.compile()
    pipeline = DDIMPipeline(unet, DDIMScheduler(num_train_timesteps=20))
    pipeline.set_progress_bar_config(disable=True)
    results = []
    for seed in (3, 4):
        generator = torch.Generator().manual_seed(seed)
        images = pipeline(batch_size=1, generator=generator, num_inference_steps=2, output_type="np").images
        results.append(torch.from_numpy(images))
    return results
